"""Builds the documentation as a site in ``site/``, as ``make docs`` does.

    python docs/build_site.py

The pages are the Markdown files of this repository that README.md leads to, and a reference of the
Python names. They keep the layout of the repository, so links work on the site as they do in the
repository. The Markdown of each page lies beside it, and ``llms.txt`` lists all pages.
"""

import json
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "site"
STATIC = ROOT / "src/ragstone/web/static"
REFERENCE = "docs/python"
LINK = re.compile(r"\]\(([^)\s#]+)[^)\s]*\)")
ABOUT = "Measures retrieval-augmented generation: every number with its interval."

Navigation = dict[str, dict[str, str]]
"""The path of each page by its title, by the section it is in."""


def documents(start: Path = ROOT / "README.md") -> list[Path]:
    """Return the files that the start leads to: Markdown, and the pictures and files it links."""
    files, waiting = [start], [start]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md":
            targets = LINK.findall(without_code(page.read_text(encoding="utf-8")))
            linked = [(page.parent / target).resolve() for target in targets if "://" not in target]
            new = [file for file in dict.fromkeys(linked) if file not in files and file.is_file()]
            files += new
            waiting += new
    return files


def without_code(text: str) -> str:
    """Return Markdown without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def navigation(index: str) -> Navigation:
    """Return the pages by section, as the index of the documentation lists them."""
    start = {"Ragstone": "README.md", "Quick start": "docs/quick-start.md"}
    sections: Navigation = {"Start": {**start, "All pages": "docs/index.md"}}
    for line in index.splitlines():
        if head := re.fullmatch(r"\*\*(.+)\*\*", line):
            sections[head[1]] = {}
        elif item := re.match(r"- \[(.+?)\]\(([^)#]+)\)", line):
            path = (ROOT / "docs" / item[2]).resolve().relative_to(ROOT)
            sections[list(sections)[-1]][item[1]] = path.as_posix()
    return sections


def settings(sections: Navigation) -> dict[str, object]:
    """Return the settings of Zensical."""
    toggles = [("default", "light", "moon", "dark"), ("slate", "dark", "sun", "light")]
    return {
        "site_name": "Ragstone",
        "site_description": ABOUT,
        "docs_dir": "pages",
        "site_dir": "site",
        "use_directory_urls": False,
        "nav": [{title: [{name: path} for name, path in pages.items()]}
                for title, pages in sections.items()],
        "theme": {
            "font": False,
            "logo": "icon.svg",
            "favicon": "icon.svg",
            "features": ["navigation.tabs", "navigation.footer", "navigation.top",
                         "content.code.copy", "search.highlight", "toc.follow"],
            "palette": [
                {"media": f"(prefers-color-scheme: {name})", "scheme": scheme,
                 "toggle": {"icon": f"lucide/{icon}", "name": f"Switch to {other} colours"}}
                for scheme, name, icon, other in toggles
            ],
        },
        "extra_css": ["site.css"],
        "markdown_extensions": [
            {"toc": {"permalink": True, "toc_depth": 3,
                     "slugify": {"object": "pymdownx.slugs.slugify", "kwds": {"case": "lower"}}}},
            {"pymdownx.highlight": {}}, "pymdownx.superfences", "tables", "sane_lists",
        ],
    }  # fmt: skip


def llms(sections: Navigation) -> str:
    """Return the list of all pages for language models, see https://llmstxt.org."""
    parts = [f"# Ragstone\n\n> {ABOUT}\n"]
    for title, pages in sections.items():
        parts.append(f"## {title}\n")
        parts.append("".join(f"- [{name}]({path})\n" for name, path in pages.items()))
    return "\n".join(parts)


class Links(HTMLParser):
    """What a page loads and leads to, and the names of its parts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses and the name of an element."""
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "a":
            self.leads.append(values.get("href", ""))
        else:
            self.loads += [values[name] for name in ("src", "srcset", "href") if name in values]


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong with a site: what it loads from elsewhere, dead links, lost Markdown."""
    pages = {file: Links(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        if "```" in file.read_text(encoding="utf-8"):
            yield f"{name}: a block of code is shown as text"
        twins = [file.with_suffix(".md")]
        if file.name == "index.html":
            twins.append(file.with_name("README.md"))
        if name != "404.html" and not any(twin.is_file() for twin in twins):
            yield f"{name}: no Markdown beside it"
        yield from (f"{name}: loads {address}" for address in page.loads if is_elsewhere(address))
        for address in (*page.loads, *page.leads):
            link = urlsplit(address)
            if link.scheme or link.netloc or name == "404.html":
                continue
            target = (file.parent / unquote(link.path)).resolve() if link.path else file
            if not target.exists():
                yield f"{name}: {address} does not exist"
            elif link.fragment and link.fragment not in getattr(pages.get(target), "ids", ()):
                yield f"{name}: {address} has no such part"
    for file in sorted(site.rglob("*.css")):
        loads = re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", file.read_text(encoding="utf-8"))
        name = file.relative_to(site).as_posix()
        yield from (f"{name}: loads {address}" for address in loads if is_elsewhere(address))


def is_elsewhere(address: str) -> bool:
    """Return whether an address is on another server."""
    return bool(urlsplit(address).netloc)


def main() -> None:
    """Build the site anew; if anything is wrong with it, there is none."""
    folder = ROOT / "build" / "docs"
    pages = folder / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(SITE, ignore_errors=True)
    files = documents()
    for file in files:
        copy = pages / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        if file.suffix == ".md":
            text = file.read_text(encoding="utf-8")
            copy.write_text(re.sub(r"(?m)^```csv (\S+)$", r'```csv title="\1"', text), "utf-8")
    shutil.copyfile(STATIC / "icon.svg", pages / "icon.svg")
    shutil.copyfile(ROOT / "docs" / "site.css", pages / "site.css")
    shutil.copytree(STATIC / "fonts", pages / "fonts")

    sections = navigation((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    reference = runpy.run_path(str(ROOT / "docs" / "reference.py"))["pages"]()
    sections["Python"] = {name: f"{REFERENCE}/{name}.md" for name in reference}
    (pages / REFERENCE).mkdir()
    for name, text in reference.items():
        (pages / REFERENCE / f"{name}.md").write_text(text, encoding="utf-8")
    run("ruff", "format", "--quiet", "--config", ROOT / "pyproject.toml", pages / REFERENCE)

    (folder / "mkdocs.yml").write_text(json.dumps(settings(sections)), encoding="utf-8")
    run("zensical", "build", "--strict", "--config-file", folder / "mkdocs.yml")
    for twin in pages.rglob("*.md"):
        shutil.copyfile(twin, folder / "site" / twin.relative_to(pages))
    (folder / "site" / "llms.txt").write_text(llms(sections), encoding="utf-8")
    if wrong := list(faults(folder / "site")):
        sys.exit("\n".join(wrong))
    (folder / "site").rename(SITE)


def run(module: str, *arguments: object) -> None:
    """Run a program of this environment; end with its status if it fails."""
    done = subprocess.run([sys.executable, "-m", module, *map(str, arguments)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
