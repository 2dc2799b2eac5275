"""What a user installs: few packages, all pinned, and nothing heavy at import."""

import ast
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from hashlib import sha256
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.availability import import_or_skip
from tests.project import ROOT, parsed

MOST_BASE_PACKAGES = 32


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        table: dict[str, Any] = tomllib.load(file)["project"]
    return table


def pins(lock: str) -> dict[str, str]:
    """Package to version, for every pinned line of the lock file."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==([^\s;\\]+)", text, flags=re.MULTILINE))


def package(requirement: str) -> str:
    """The normalised name at the head of a requirement."""
    name = re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def test_base_install_is_small() -> None:
    windows = re.findall("== 'win32'", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    assert 0 < len(pins("requirements.lock")) - len(windows) <= MOST_BASE_PACKAGES


def test_every_dependency_is_locked(project: dict[str, Any]) -> None:
    assert {package(r) for r in project["dependencies"]} <= pins("requirements.lock").keys()


def test_every_development_dependency_is_locked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    development = settings["dependency-groups"]["dev"]
    assert {package(r) for r in development} <= pins("requirements-dev.lock").keys()


def test_the_lock_of_the_documentation_agrees_with_that_of_development() -> None:
    """Both are installed into one environment."""
    documentation, development = pins("requirements-docs.lock"), pins("requirements-dev.lock")
    assert "zensical" in documentation
    shared = documentation.keys() & development.keys()
    assert shared
    assert {name: documentation[name] for name in shared} == {
        name: development[name] for name in shared
    }


def test_development_lock_has_the_same_versions_as_the_base_lock() -> None:
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "requirements-dev.lock", "requirements-docs.lock"]
)
def test_locks_are_hashed_and_name_no_package_index(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins(lock))
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_the_bill_of_materials_of_a_wheel_lists_what_it_carries_and_needs(tmp_path: Path) -> None:
    import_or_skip("cyclonedx")
    wheel = tmp_path / "ragstone-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    file = runpy.run_path(str(ROOT / ".ci" / "sbom.py"))["written"](wheel)
    bill = json.loads(file.read_text(encoding="utf-8"))
    about = bill["metadata"]["component"]
    assert (about["name"], about["version"]) == ("ragstone", "0.1.0")
    assert about["hashes"][0]["content"] == sha256(b"a wheel").hexdigest()
    listed = {one["name"]: one for one in bill["components"]}
    locked = pins("requirements.lock")
    assert {name: listed[name]["version"] for name in locked} == locked
    assert {listed[name]["scope"] for name in locked} == {"required"}
    assert {"htmx", "Inter"} <= listed.keys()
    assert listed["ray"]["scope"] == "optional"
    assert "pytest" not in listed
    needs = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert f"yarl@{locked['yarl']}" in needs[f"aiohttp@{locked['aiohttp']}"]
    assert f"polars@{locked['polars']}" in needs[about["bom-ref"]]


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, ragstone; "
        "print(*sorted({'pandas', 'pyarrow', 'scipy', 'rich'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def imported() -> dict[str, Path]:
    """What the package imports from elsewhere, and one of the files that do."""
    found: dict[str, Path] = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
                names = [node.module]
            else:
                continue
            found |= {name.split(".")[0]: file for name in names}
    return {
        name: file
        for name, file in found.items()
        if name not in {*sys.stdlib_module_names, "ragstone", "_typeshed"}
    }


def test_what_is_imported_is_declared(project: dict[str, Any]) -> None:
    extras = project["optional-dependencies"]
    declared = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    names = {package(one) for one in declared}
    installed = packages_distributions()

    def is_declared(module: str) -> bool:
        if module in installed:
            return bool(names & {package(one) for one in installed[module]})
        return any(name.startswith(package(module)) for name in names)  # of an extra

    undeclared = {module: file for module, file in imported().items() if not is_declared(module)}
    # Only pytest itself loads the plugin.
    assert undeclared == {"pytest": ROOT / "src" / "ragstone" / "cli" / "pytest_plugin.py"}


def test_the_app_and_the_monitor_start_without_an_extra() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['google', 'opentelemetry', 'psycopg'])); "
        "import ragstone.web.web_app, ragstone.web.monitor_server, ragstone.web.monitor_pages, "
        "ragstone.monitor.intake.intake_app, ragstone.monitor.intake.store_sender"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_package_index_gets_no_link_that_leads_nowhere() -> None:
    """The README is shown there without the repository around it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    readme = settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / readme["fragments"][0]["path"]).read_text(encoding="utf-8")
    assert "](docs/" in text
    for substitution in readme["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    assert not re.findall(r"\]\((?!https?:|#)", text)
    assert text.startswith("# Ragstone\n")
    assert "metrics as rows and systems as columns" not in text


CITATION = "cff-version: 1.2.0\nversion: 0.2.0\n"
NAMES = ("Homepage", "Documentation", "Source", "Issues", "Changelog")
URLS = "".join(f'{name} = "https://rag.test/{name}"\n' for name in NAMES)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One that is ready to be released as 0.2.0; the settings of git are not the user's."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    project = f'[project]\nname = "x"\nversion = "0.2.0"\n[project.urls]\n{URLS}'
    (tmp_path / "pyproject.toml").write_text(project)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [0.2.0] – 2026-11-30\n", "utf-8")
    (tmp_path / "CITATION.cff").write_text(CITATION)
    for lock in ("requirements.lock", "requirements-docs.lock"):
        (tmp_path / lock).write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Ready")
    git(tmp_path, "tag", "v0.2.0")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    author = ["-c", "user.name=Ada", "-c", "user.email=ada@rag.test"]
    subprocess.run(["git", *author, *words], cwd=folder, check=True)


def left_to_do(folder: Path) -> list[str]:
    return list(runpy.run_path(str(ROOT / ".ci" / "release_check.py"))["left_to_do"](folder))


def test_nothing_is_left_to_do_where_all_agree(repository: Path) -> None:
    assert left_to_do(repository) == []


@pytest.mark.parametrize(
    ("file", "before", "after", "words"),
    [
        ("CHANGELOG.md", "0.2.0", "0.1.0", "to be ## [0.2.0] – YEAR"),
        ("CHANGELOG.md", " – 2026-11-30", "", "to be ## [0.2.0] – YEAR"),
        ("CHANGELOG.md", "## [0.2.0]", "## [Unreleased]\n\n## [0.2.0]", "to be ## [0.2.0] – YEAR"),
        ("CITATION.cff", "0.2.0", "0.1.0", "CITATION.cff has to name version 0.2.0."),
        ("pyproject.toml", "Issues", "Bugs", "lacks Issues."),
        ("pyproject.toml", "rag.test/Source", "github.com/OWNER/x", "Source in [project.urls]"),
    ],
)
def test_what_disagrees_is_left_to_do(
    repository: Path, file: str, before: str, after: str, words: str
) -> None:
    text = (repository / file).read_text("utf-8")
    (repository / file).write_text(text.replace(before, after), "utf-8")
    disagreement, *rest = left_to_do(repository)
    assert words in disagreement
    assert rest == [f"Not committed: {file}."]


def test_changed_locks_and_a_tag_elsewhere_are_left_to_do(repository: Path) -> None:
    (repository / "requirements.lock").write_text("polars==2.1.0\n")
    (repository / "requirements-docs.lock").write_text("zensical==0.0.73\n")
    (changed,) = left_to_do(repository)
    locks = "requirements-docs.lock and requirements.lock"
    assert changed == f"make lock changed {locks}: test and commit."
    git(repository, "commit", "-qam", "Lock")
    (elsewhere,) = left_to_do(repository)
    assert elsewhere == "The tag v0.2.0 is not at the commit that is checked out."
    git(repository, "tag", "-d", "v0.2.0")
    (missing,) = left_to_do(repository)
    assert missing.startswith("There is no tag v0.2.0 yet")


def test_the_citation_is_of_this_version(project: dict[str, Any]) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in citation
    assert f"\nlicense: {project['license']}\n" in citation
