//! The evidence estimate is unbiased for any number of particles.

use super::{Bench, Check, Filter, Outcome, Problem, SIX_SIGMA, problem, seed, standard_errors, worst};

const NULL: &str = "the mean of exp(ln_evidence) over clouds is the enumerated evidence";
const STATISTIC: &str = "distance of the mean in standard errors, the worst of three problems";

pub fn checks<B: Bench>() -> Vec<Check<B>> {
    let check = |name, run| Check { name, null: NULL, statistic: STATISTIC, false_alarm: 1e-8, run };
    vec![
        check("evidence, N=1", |bench: &B, effort| unbiased(bench, 1, 3000 * effort)),
        check("evidence, N=2", |bench: &B, effort| unbiased(bench, 2, 2500 * effort)),
        check("evidence, N=8", |bench: &B, effort| unbiased(bench, 8, 1200 * effort)),
    ]
}

fn unbiased<B: Bench>(bench: &B, n_particles: usize, n_clouds: u64) -> Outcome {
    let problems = [problem::full(), problem::forgetting(), problem::gaussian()];
    let value = worst(problems.iter().map(|problem| deviation(bench, problem, n_particles, n_clouds)));
    Outcome { value, limit: SIX_SIGMA }
}

fn deviation<B: Bench>(bench: &B, problem: &Problem, n_particles: usize, n_clouds: u64) -> f64 {
    let exact = problem.solve().ln_evidence();
    let ratios: Vec<f64> = (0..n_clouds)
        .map(|cloud| {
            let name = format!("evidence {} {n_particles}", problem.name);
            let mut filter = bench.start(seed(&name, cloud), n_particles, &problem.settings);
            for (x, y) in &problem.stream {
                filter.observe(&[*x as f64], *y);
            }
            (filter.ln_evidence() - exact).exp()
        })
        .collect();
    standard_errors(&ratios, 1.0)
}
