"""The names of classes: whoever reads one knows which is meant."""

import ast
from collections import defaultdict
from pathlib import Path

import ragstone
from tests.project import parsed

ROOT = Path(ragstone.__file__).parent


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(parsed(file, mentions="class ")):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
