"""Write a bill of materials: every package built into the extension or required by it, with version and licence.

    python tools/sbom.py dist

writes dist/sbom.json (CycloneDX 1.6) and dist/licences.md. Rust packages come from `cargo metadata` (those that end up
in the wheel), Python packages from the metadata of the installed requirements, optional ones included.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

BUILT = "sapwood-py"
WITHOUT = ("test",)  # an extra that users do not install


@dataclass(frozen=True, order=True)
class Package:
    """A package; `kind` is that of a package URL."""

    kind: str
    name: str
    version: str
    licence: str


def rust_packages() -> list[Package]:
    """The packages compiled into the extension: normal dependencies, on any platform."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    waiting = [ix for ix, package in packages.items() if package["name"] == BUILT]
    seen: set[str] = set()
    while waiting:
        ix = waiting.pop()
        if ix not in seen:
            seen.add(ix)
            waiting += [
                dep["pkg"] for dep in nodes[ix]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
            ]
    return [
        Package("cargo", p["name"], p["version"], (p["license"] or "unknown").replace("/", " OR "))
        for p in (packages[ix] for ix in seen)
        if p["source"] is not None  # our own
    ]


def python_packages() -> list[Package]:
    """What sapwood requires, with the extras that users install, as far as it is installed here."""
    waiting = [Requirement(text) for text in metadata.requires("sapwood") or []]
    waiting = [r for r in waiting if not any(f"'{extra}'" in str(r.marker).replace('"', "'") for extra in WITHOUT)]
    seen: dict[str, Package] = {}
    while waiting:
        requirement = waiting.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if name not in seen:
            seen[name] = Package("pypi", name, found.version, _licence_of(found))
            deeper = [Requirement(text) for text in found.requires or []]
            waiting += [r for r in deeper if r.marker is None or r.marker.evaluate({"extra": ""})]
    return list(seen.values())


def _licence_of(found: metadata.Distribution) -> str:
    about = found.metadata
    stated = about.get("License-Expression")
    if stated:
        return str(stated)
    classified = [
        text.rsplit(" :: ", 1)[-1] for text in about.get_all("Classifier") or [] if text.startswith("License")
    ]
    first_line = (about.get("License") or "unknown").strip().splitlines()[0]
    return " AND ".join(sorted(classified)) or first_line


def bill(packages: list[Package]) -> Bom:
    """The bill of materials."""
    licences = LicenseFactory()
    components = [
        Component(
            type=ComponentType.LIBRARY,
            name=package.name,
            version=package.version,
            bom_ref=f"{package.kind}/{package.name}",
            purl=PackageURL(package.kind, name=package.name, version=package.version),
            licenses=[licences.make_from_string(package.licence)],
        )
        for package in packages
    ]
    # The same bytes for the same packages: no clock, and a number that follows from the content.
    found = Bom(components=components, serial_number=uuid5(NAMESPACE_URL, repr(packages)))
    found.metadata.timestamp = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    return found


def main() -> None:
    folder = Path(sys.argv[1])
    packages = sorted([*rust_packages(), *python_packages()])
    JsonV1Dot6(bill(packages)).output_to_file(str(folder / "sbom.json"), allow_overwrite=True, indent=1)
    lines = ["| package | version | licence |", "|---|---|---|"]
    lines += [f"| {p.kind}: {p.name} | {p.version} | {p.licence} |" for p in packages]
    (folder / "licences.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(packages)} packages in {folder / 'sbom.json'} and {folder / 'licences.md'}")


if __name__ == "__main__":
    main()
