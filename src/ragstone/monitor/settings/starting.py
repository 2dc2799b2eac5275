"""Starting: what the settings name and a monitor has to have before it starts."""

import os
from collections.abc import Iterator

from ragstone.core.errors import InputError, RagstoneError
from ragstone.judges.judge_names import check_name, is_without_model, panel_models
from ragstone.models.chat.chat_names import ADAPTERS, is_chat, open_chat

from .settings import MonitorSettings
from .tell import EmailChannel, WebhookChannel


def unset_variables(settings: MonitorSettings) -> tuple[str, ...]:
    """The environment variables with secrets that the settings name and that are not set."""
    back = settings.write_back
    named = list(back.headers_from.values()) if back else []
    for one in settings.tells:
        if isinstance(one, WebhookChannel):
            named += [one.url_from or "", one.secret_from or "", *one.headers_from.values()]
        elif isinstance(one, EmailChannel):
            named.append(one.password_from or "")
    return tuple(dict.fromkeys(one for one in named if one and not os.environ.get(one)))


def unpriced_models(settings: MonitorSettings) -> tuple[str, ...]:
    """The models whose price is not known, where the settings say what an hour may cost.

    Raises:
        InputError: The file of prices cannot be read.
    """
    judging = settings.judging
    if judging.usd_an_hour is None:
        return ()
    from ragstone.run.calls.budget import load_prices

    prices = load_prices(judging.prices)
    models = dict.fromkeys(
        model
        for one in judging.judges
        for model in map(str.strip, one.split(","))
        if is_chat(model)
    )
    return tuple(model for model in models if prices.of(model) is None)


def lacking(settings: MonitorSettings) -> Iterator[str]:
    """What keeps a monitor from starting here, each with what to do."""
    unset = unset_variables(settings)
    if unset:
        yield (
            f"Not set in the environment: {', '.join(unset)}. Set each before the monitor starts "
            f"(export {unset[0]}=…), or leave out the key ending in _from that names it."
        )
    try:
        unpriced = unpriced_models(settings)
    except InputError as error:
        yield error.text
        return
    if unpriced:
        yield (
            f"usd_an_hour in [judging] limits nothing while it is not known what "
            f'{", ".join(unpriced)} costs. Write prices = "prices.toml" beside it, a file with '
            f"the US dollars per million tokens:\n"
            f'  ["{unpriced[0].split("?")[0]}"]\n  input = 0.25\n  output = 2.0\n'
            "or install those of many models: pip install 'ragstone[prices]'. answers_an_hour "
            "needs no prices."
        )


def closed_judges(settings: MonitorSettings) -> Iterator[str]:
    """What keeps judges from being asked, such as a key that is not set; nothing is sent."""
    for name in settings.judging.judges:
        try:
            check_name(name)
            if not is_without_model(name):
                for model in panel_models(name):
                    # To see whether those of an extra can be had takes seconds and much memory.
                    if not model.startswith(tuple(f"{one}:" for one in ADAPTERS)):
                        open_chat(model)
        except RagstoneError as error:
            yield error.text


def check_start(settings: MonitorSettings) -> None:
    """Refuse settings by which nothing could be judged, alarms not told, or money not counted.

    Raises:
        InputError: Something is lacking; says all of it.
    """
    where = "" if settings.file is None else f"{settings.file}: "
    faults = [*closed_judges(settings), *(f"{where}{one}" for one in lacking(settings))]
    if faults:
        raise InputError("\n".join(faults))
