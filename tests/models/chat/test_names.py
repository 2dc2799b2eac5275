"""Chat names: which model each opens, with which key, and what is refused."""

import pytest

from ragstone.core.errors import InputError, ModelError, UnknownName
from ragstone.models.chat import ChatModel, is_chat, open_chat

KEY = "sk-test-1234567890abcdef"


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")


NAMES = [
    "openai:gpt-5-mini",
    "azure:my-deployment",
    "anthropic:claude-haiku-4-5",
    "gemini:gemini-3-flash",
    "http://localhost:11434/v1#llama3.1:8b",
    "https://judge.example#org/model",
]


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", NAMES)
def test_every_form_opens_and_keeps_its_name(name: str) -> None:
    model: ChatModel = open_chat(f"{name}?seed=7&temperature=0" if "anth" not in name else name)
    assert model.name == (f"{name}?temperature=0&seed=7" if "anth" not in name else name)
    assert model.notes == ()
    assert model.kept, "what a server said may be used by other runs"
    assert is_chat(name)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_shown(name: str) -> None:
    model = open_chat(name)
    shown = f"{model.name} {model.about} {model.identity} {model!r} {vars(model)}"
    assert KEY not in shown


@pytest.mark.usefixtures("keys")
def test_identity_is_format_address_model_and_what_changes_replies() -> None:
    one = open_chat("openai:gpt-5-mini?seed=7&temperature=0&window=9000")
    assert one.identity == (
        "openai https://api.openai.com/v1/chat/completions gpt-5-mini temperature=0&seed=7"
    )
    assert one.identity == open_chat("openai:gpt-5-mini?temperature=0&seed=7").identity
    assert one.identity != open_chat("openai:gpt-5-mini?temperature=0&seed=8").identity
    assert (
        one.identity == open_chat("https://api.openai.com#gpt-5-mini?seed=7&temperature=0").identity
    )


@pytest.mark.usefixtures("keys")
def test_about_is_model_server_and_sampling() -> None:
    assert open_chat("openai:gpt-5-mini?seed=7").about == (
        "gpt-5-mini at api.openai.com, temperature 0, seed 7"
    )


@pytest.mark.usefixtures("keys")
def test_azure_is_asked_at_its_v1_address_or_at_a_dated_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    v1 = "azure https://mine.openai.azure.com/openai/v1/chat/completions gpt"
    assert open_chat("azure:gpt").identity == v1
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/openai/v1/")
    assert open_chat("azure:gpt").identity == v1
    for newest in ("v1", "latest", "preview"):
        monkeypatch.setenv("OPENAI_API_VERSION", newest)
        assert open_chat("azure:gpt").identity == v1
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert open_chat("azure:gpt").identity == (
        "azure https://mine.openai.azure.com/openai/deployments/gpt/chat/completions"
        "?api-version=2024-10-21 gpt"
    )


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai:m", "OPENAI_API_KEY"),
        ("azure:m", "AZURE_OPENAI_ENDPOINT"),
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("gemini:m", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_is_told_before_anything_is_sent(name: str, variable: str) -> None:
    with pytest.raises(ModelError, match=variable):
        open_chat(name)


def test_azure_needs_a_key_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com")
    with pytest.raises(ModelError, match="AZURE_OPENAI_API_KEY"):
        open_chat("azure:m")


def test_a_server_on_this_machine_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/v1/")
    model = open_chat("anthropic:m", offline=True)
    assert model.identity == "anthropic http://127.0.0.1:9/v1/messages m"


def test_google_api_key_opens_gemini_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    assert open_chat("gemini:gemini-3-flash").window == 1_000_000


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "name", ["openai:m", "azure:m", "anthropic:m", "gemini:m", "https://x.example#m", "bedrock:m"]
)
def test_offline_opens_nothing_that_is_elsewhere(name: str) -> None:
    with pytest.raises(ModelError, match="offline=True"):
        open_chat(name, offline=True)


def test_offline_opens_what_is_on_this_machine() -> None:
    assert open_chat("http://localhost:8000/v1#m", offline=True).window == 32_000
    assert open_chat("http://[::1]:8000/v1#m?window=8192", offline=True).window == 8192


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "name", ["openai:", "azure: ", "anthropic:?effort=low", "gemini:", "litellm:"]
)
def test_a_name_without_a_model_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match="names no model"):
        open_chat(name)


@pytest.mark.parametrize(
    "name", ["local", "gpt-5", "opanai:m", "human:labels.csv", "ftp://x#m", ""]
)
def test_what_is_no_chat_model_is_told_the_forms(name: str) -> None:
    assert not is_chat(name)
    with pytest.raises(UnknownName, match="anthropic:MODEL"):
        open_chat(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("http://user:secret@host/v1#m", "password"),
        ("http://host/v1?token=x#m", "address may have no"),
        ("http:///v1#m", "no usable address"),
        ("http://localhost/v1", "names no model"),
    ],
)
def test_an_address_must_be_a_plain_one(name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_chat(name)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "name",
    [
        "anthropic:m?seed=1",
        "anthropic:m?schema=json",
        "anthropic:m?effort=none",
        "gemini:m?effort=max",
    ],
)
def test_a_setting_that_a_format_has_no_place_for_is_refused(name: str) -> None:
    with pytest.raises(ModelError, match=name.partition("?")[2].partition("=")[0]):
        open_chat(name)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("model", "efforts", "schemas"),
    [
        ("openai:m", "none minimal low medium high xhigh max", "strict json prompt"),
        ("azure:m", "none minimal low medium high xhigh max", "strict json prompt"),
        ("http://host/v1#m", "none minimal low medium high xhigh max", "strict json prompt"),
        ("anthropic:m", "low medium high xhigh max", "strict prompt"),
        ("gemini:m", "none minimal low medium high", "strict json prompt"),
    ],
)
def test_a_format_takes_the_efforts_and_schemas_that_it_has_a_place_for(
    model: str, efforts: str, schemas: str
) -> None:
    for setting, taken, every in (
        ("effort", efforts.split(), "none minimal low medium high xhigh max huge"),
        ("schema", schemas.split(), "strict json prompt loose"),
    ):
        for word in every.split():
            name = f"{model}?{setting}={word}"
            if word in taken:
                assert open_chat(name).name == name
            else:
                with pytest.raises(ModelError, match=f"{setting}: expected one of "):
                    open_chat(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_is_not_asked_needs_no_key_and_is_the_same_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://mine.openai.azure.com/")
    opened = open_chat(name, to_ask=False)
    for variable in ("OPENAI", "AZURE_OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{variable}_API_KEY", KEY)
    same = open_chat(name)
    for one in ("name", "about", "identity", "window"):
        assert getattr(opened, one) == getattr(same, one)


def test_a_model_that_is_not_asked_is_still_named_and_addressed_well() -> None:
    for name, words in [
        ("openai:", "names no model"),
        ("http://localhost/v1", "names no model"),
        ("http://user:secret@host/v1#m", "password"),
        ("openai:m?seed=x", "seed"),
    ]:
        with pytest.raises(ModelError, match=words):
            open_chat(name, to_ask=False)


def test_a_misspelt_form_is_told_as_it_is_written() -> None:
    with pytest.raises(UnknownName, match="Did you mean anthropic:m"):
        open_chat("anthropc:m")
