"""Scores of Student-t forecasts compared with other implementations and with the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import integrate, stats

from sapwood.metrics import crps_student_t, crps_student_t_mixture, ln_density_student_t


@pytest.mark.parametrize("df", [1.5, 3.0, 10.0, 200.0])
def test_closed_form_agrees_with_scoringrules(df):
    scoringrules = pytest.importorskip("scoringrules")
    y = np.linspace(-7, 9, 41)
    expected = scoringrules.crps_t(y, df, 0.7, 1.9)
    np.testing.assert_allclose(crps_student_t(y, df, 0.7, 1.9), expected, rtol=1e-9)


def test_ln_density_agrees_with_scipy():
    y = np.linspace(-30, 30, 61)
    np.testing.assert_allclose(ln_density_student_t(y, 2.5, 1.0, 0.3), stats.t.logpdf(y, 2.5, 1.0, 0.3), rtol=1e-12)


MIXTURES = {
    "one": ([1.0], [3.0], [0.0], [1.0]),
    "apart": ([0.2, 0.5, 0.3], [4.0, 12.0, 2.2], [-3.0, 0.5, 40.0], [0.1, 1.0, 2.0]),
    "needle in a plain": ([0.01, 0.99], [30.0, 5.0], [1.0, 1.0], [1e-5, 10.0]),
    "heavy": ([0.5, 0.5], [1.2, 1.8], [0.0, 2.0], [1.0, 3.0]),
}


@pytest.mark.parametrize("name", sorted(MIXTURES))
@pytest.mark.parametrize("y", [-4.0, 0.5, 1.0, 60.0])
def test_mixture_is_the_integral_of_its_definition(name, y):
    w, df, loc, scale = map(np.array, MIXTURES[name])

    def tail(x, sign):
        return np.sum(w * stats.t.cdf(sign * (x - loc) / scale, df)) ** 2

    # The break points keep the adaptive rule from missing a narrow component.
    corners = np.sort(np.concatenate([loc, loc - 8 * scale, loc + 8 * scale]))
    expected = 0.0
    for sign, ends in ((1.0, [-np.inf, *corners[corners < y], y]), (-1.0, [y, *corners[corners > y], np.inf])):
        for low, high in itertools.pairwise(ends):
            expected += integrate.quad(tail, low, high, args=(sign,), epsabs=1e-12, epsrel=1e-10, limit=500)[0]
    # quad's own error estimates on the two infinite pieces sum to about 1e-9 for the heaviest tails.
    assert crps_student_t_mixture(y, w, df, loc, scale) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("df", [1.2, 2.0, 7.0, 1000.0])
def test_mixture_of_equals_is_the_closed_form(df):
    for y in (-5.0, 0.0, 3.3):
        value = crps_student_t_mixture(y, [0.3, 0.7], [df, df], [1.0, 1.0], [2.0, 2.0])
        assert value == pytest.approx(float(crps_student_t(y, df, 1.0, 2.0)), rel=1e-11, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crps_student_t(0.0, 1.0, 0.0, 1.0), "smallest df is 1; the CRPS in closed form needs df > 1"),
        (lambda: crps_student_t_mixture(0.0, [0.5], [3], [0], [1]), "the weights sum to 0.5"),
        (lambda: crps_student_t_mixture(0.0, [1.0], [1], [0], [1]), "smallest df is 1 and the smallest scale 1"),
        (lambda: crps_student_t_mixture(0.0, [1.0], [3, 3], [0], [1]), "equally long"),
    ],
)
def test_bad_mixtures_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
