"""Named models: chat models among the judges, from what the user named to what can be asked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ragstone.core.errors import InputError
from ragstone.models.chat import ChatModel

if TYPE_CHECKING:
    from ragstone.models.chat.http_transport import Connections

Model = str | ChatModel | Callable[..., Any]
"""A model as a Python caller may give it: its name, itself, or an async function."""

Named = Model | Sequence[Model]
"""A judge: a model, a judge without one by its name, or several models, which vote."""


@dataclass(frozen=True)
class NamedModels:
    """The named judges, and the models of those that are chat models.

    Args:
        names: All judges as the user wrote them, including those without a model.
        models: The models of each judge that is a chat model or a panel, by the judge's name.
        pool: The connections that they share; None without chat models.
    """

    names: tuple[str, ...]
    models: dict[str, tuple[ChatModel, ...]]
    pool: "Connections | None" = None


def open_named(
    judge: Named | Sequence[Named], *, offline: bool, to_ask: bool = True
) -> NamedModels:
    """Open the chat models among the judges. Models separated by commas form a panel that votes.

    Args:
        judge: As the user gave it.
        offline: Use no server except on this machine.
        to_ask: False opens models without a key, because nothing will be sent.

    Raises:
        InputError: A model that cannot be used, or is named twice.
    """
    from ragstone.models.chat.chat_names import is_chat

    given = cast(Sequence[Named], judge if isinstance(judge, list | tuple) else [judge])
    found: dict[str, tuple[ChatModel, ...]] = {}
    names: list[str] = []
    pool = None
    for one in given:
        if isinstance(one, str) and not any(map(is_chat, one.split(","))):
            names.append(one)
            continue
        if pool is None:
            from ragstone.models.chat.http_transport import Connections

            pool = Connections()
        models = _opened(one, pool, offline=offline, to_ask=to_ask)
        _check_names(models)
        names.append(one if isinstance(one, str) else ",".join(model.name for model in models))
        if names[-1] in found:
            raise InputError(
                f"Two judges are called {names[-1]}. Names must be unique; your own function "
                "gets a "
                "name by CallableChat(function, name=…)."
            )
        found[names[-1]] = models
        _check_panel(models)
    return NamedModels(tuple(names), found, pool)


def _opened(
    one: Named, connections: "Connections", *, offline: bool, to_ask: bool
) -> tuple[ChatModel, ...]:
    if isinstance(one, str):
        from ragstone.judges.judge_names import panel_models
        from ragstone.models.chat.chat_names import open_chat

        return tuple(
            open_chat(name, connections, offline=offline, to_ask=to_ask)
            for name in panel_models(one)
        )
    if isinstance(one, list | tuple):
        return tuple(
            model
            for part in one
            for model in _opened(part, connections, offline=offline, to_ask=to_ask)
        )
    if callable(one):
        from ragstone.models.chat.library_clients import CallableChat

        return (CallableChat(one),)
    assert not isinstance(one, Sequence)
    return (one,)


def _check_names(models: Sequence[ChatModel]) -> None:
    """Check that judges' names are unique, because tables identify judges by name."""
    from ragstone.judges.judge_names import is_without_model

    for model in models:
        if is_without_model(model.name):
            raise InputError(
                f"A model cannot be called {model.name}: that is another judge. Give it another "
                "name; a function of your own gets one by CallableChat(function, name=…)."
            )


def _check_panel(models: Sequence[ChatModel]) -> None:
    """Check that no two members of a panel would give the same replies."""
    for what in ("name", "identity"):
        known = [getattr(model, what) for model in models]
        twice = next((one for one in known if known.count(one) > 1), None)
        if twice is not None:
            raise InputError(
                f"{twice} is in a panel twice. Its members vote: name each once, or tell them "
                "apart by a setting such as ?seed=2."
            )
