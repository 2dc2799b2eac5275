"""Packages whose names are loaded when they are first used."""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path


def lazy_names(package: str) -> tuple[Callable[[str], object], list[str]]:
    """Return ``__getattr__`` and ``__all__`` of a package, by the imports of its ``__init__.pyi``.

    The stub is the only list of the package's names, which type checkers read too; as they have it,
    those imported ``as`` are its own. No name may be that of a module in the package, for the
    module would take its place.

    Args:
        package: The package's ``__name__``.

    Returns:
        A function that imports a name, and all names. A name that is not in the stub is an
        AttributeError.
    """
    stub = Path(sys.modules[package].__file__ or "").with_suffix(".pyi")
    imports = ast.parse(stub.read_bytes()).body
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
        owner = None if module == "." else import_module(module, package)
        value: object
        if hasattr(owner, attribute):
            value = getattr(owner, attribute)
        else:  # A module, such as ``guard`` of ``from . import guard``.
            value = import_module(f"{module.rstrip('.')}.{attribute}", package)
        setattr(sys.modules[package], name, value)
        return value

    return load, sorted(modules)
