"""Lists what is left to do before a release; fails until nothing is.

python .ci/release_check.py
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
URLS = ("Homepage", "Documentation", "Source", "Issues", "Changelog")


def left_to_do(root: Path) -> Iterator[str]:
    """Yield a sentence for each thing that a release of the repository lacks."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=True
        ).stdout

    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version = project["version"]
    heading = re.search(r"^## \[(.+?)\](.*)", (root / "CHANGELOG.md").read_text("utf-8"), re.M)
    if heading is None or heading[1] != version or not re.search(r" \d{4}-\d\d-\d\d$", heading[2]):
        yield f"The first version in CHANGELOG.md has to be ## [{version}] – YEAR-MONTH-DAY."
    if f"\nversion: {version}\n" not in (root / "CITATION.cff").read_text("utf-8"):
        yield f"CITATION.cff has to name version {version}."
    urls = project.get("urls", {})
    if missing := [name for name in URLS if name not in urls]:
        yield f"[project.urls] of pyproject.toml lacks {', '.join(missing)}."
    for name, url in urls.items():
        if re.search(r"example\.(com|org)|OWNER|TODO", url):
            yield f"{name} in [project.urls] is still a placeholder: {url}"
    changed = [line[3:] for line in git("status", "--porcelain").splitlines()]
    if locks := [name for name in changed if name.endswith(".lock")]:
        yield f"make lock changed {' and '.join(locks)}: test and commit."
    if rest := [name for name in changed if not name.endswith(".lock")]:
        yield f"Not committed: {', '.join(rest)}."
    tag = f"v{version}"
    if tag not in git("tag").splitlines():
        yield f"There is no tag {tag} yet. Last of all: git tag -s {tag}"
    elif git("rev-list", "-n1", tag) != git("rev-parse", "HEAD"):
        yield f"The tag {tag} is not at the commit that is checked out."


if __name__ == "__main__":
    lines = list(left_to_do(ROOT))
    sys.stdout.write("".join(f"- {line}\n" for line in lines) or "Ready to be released.\n")
    sys.exit(bool(lines))
