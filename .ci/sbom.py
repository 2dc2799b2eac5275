"""Writes the bill of materials of a wheel beside it: FILE.whl.cdx.json, in CycloneDX.

    python .ci/sbom.py dist/ragstone-0.1.0-py3-none-any.whl

It lists what the package carries, what it always needs, in the versions of requirements.lock, and
what its extras ask for.
"""

import re
import runpy
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).parents[1]


def written(wheel: Path) -> Path:
    """Write the bill of materials of a wheel; gives its file."""
    file = wheel.with_name(f"{wheel.name}.cdx.json")
    file.write_text(JsonV1Dot6(bill(wheel)).output_as_string(indent=1) + "\n", encoding="utf-8")
    return file


def bill(wheel: Path) -> Bom:
    """What is in a wheel, and what it needs."""
    name, version = wheel.name.split("-")[:2]
    about = runpy.run_path(str(ROOT / "docs" / "dependencies.py"))
    places = about["declared"]()
    package = component(name, version, "Apache-2.0", digest=sha256(wheel.read_bytes()).hexdigest())
    carried = [
        component(*each.partition(" ")[::2], licence, on_pypi=False)
        for each, (licence, _, _) in about["CARRIED"].items()
    ]
    locked, needs = lock("requirements.lock")
    needed = {
        each: component(each, at, licence_of(each, about["DIRECT"])) for each, at in locked.items()
    }
    tried, _ = lock("requirements-dev.lock")
    optional = [
        component(each, tried.get(each), about["DIRECT"][each][0], scope=ComponentScope.OPTIONAL)
        for each, where in places.items()
        if each not in needed and where != ["dev"]
    ]
    made = Bom(components=[*carried, *needed.values(), *optional])
    made.metadata.component = package
    direct = [needed[each] for each, where in places.items() if "" in where]
    made.register_dependency(package, [*carried, *direct, *optional])
    for each, of in needs.items():
        made.register_dependency(needed[each], [needed[one] for one in of])
    return made


def lock(name: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The versions of a lock file, and what each package in it needs."""
    text = (ROOT / name).read_text(encoding="utf-8")
    versions: dict[str, str] = {}
    needs: dict[str, list[str]] = {}
    for block in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]:
        package, _, version = block.split()[0].partition("==")
        versions[package] = version
        for by in re.findall(r"^    # +(?:via )?([a-z0-9-]+)$", block, flags=re.MULTILINE):
            needs.setdefault(by, []).append(package)
    return versions, {by: of for by, of in needs.items() if by in versions}


def licence_of(name: str, known: dict[str, tuple[str, str]]) -> str | None:
    """Its licence, as far as that is known here."""
    if name in known:
        return known[name][0]
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return None
    licences = metadata.get_all("License-Expression") or metadata.get_all("License")
    return licences[0] if licences else None


def component(
    name: str,
    version: str | None,
    licence: str | None,
    *,
    scope: ComponentScope | None = ComponentScope.REQUIRED,
    on_pypi: bool = True,
    digest: str = "",
) -> Component:
    return Component(
        name=name,
        version=version or None,
        type=ComponentType.LIBRARY,
        scope=scope,
        bom_ref=f"{name}@{version}" if version else name,
        purl=PackageURL("pypi", name=name, version=version or None) if on_pypi else None,
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)] if digest else [],
    )


if __name__ == "__main__":
    for wheel in sys.argv[1:]:
        written(Path(wheel))
