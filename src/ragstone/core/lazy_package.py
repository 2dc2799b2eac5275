"""Packages whose names are loaded when they are first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def lazy_names(
    package: str,
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return a package's ``__getattr__``, ``__dir__`` and ``__all__``, read from its stub.

    The stub ``__init__.pyi`` is the only list of the package's names. As for type checkers, only
    names imported ``as`` are public. No function or class may share a submodule's name: the
    submodule would take its place.

    Args:
        package: The package's ``__name__``.

    Returns:
        A function that imports a name, one that lists what ``dir`` shows, and all public names. A
        name that is not in the stub is an AttributeError.
    """
    here = sys.modules[package]
    imports = ast.parse(Path(here.__file__ or "").with_suffix(".pyi").read_bytes()).body
    modules = {
        alias.asname: ("." * statement.level + (statement.module or ""), alias.name)
        for statement in imports
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if alias.asname
    }

    def load(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = modules[name]
        if module == ".":
            return import_module(f".{attribute}", package)
        owner = import_module(module, package)
        try:
            value: object = getattr(owner, attribute)
        except AttributeError:
            if not hasattr(owner, "__path__"):
                raise
            value = import_module(f"{module}.{attribute}", package)
        setattr(here, name, value)
        return value

    return load, lambda: sorted({*vars(here), *modules}), sorted(modules)
