"""The settings of a monitor: read whole, and every fault told with its line."""

from pathlib import Path

import pytest

from ragstone.core.errors import InputError
from ragstone.metrics import parse_metric
from ragstone.monitor.settings import (
    DEFAULTS,
    AlarmPromise,
    AlarmRule,
    EmailChannel,
    FaultySettings,
    FileChannel,
    GuardStep,
    SamplingSettings,
    StdoutChannel,
    WebhookChannel,
    read_settings,
)

WHOLE = """\
[judging]
metrics = ["faithfulness", "mrr", "contradiction", "abstention"]
judge = ["local", "openai:gpt-5-mini"]
answers_an_hour = 600
usd_an_hour = 1.5
settle = "20s"

[sampling]
rate = 0.1
by.language = { de = 0.5, fr = 0.25 }
by_guard_score = [{ below = 0.3, rate = 0.85 }, { below = 0.6, rate = 0.3 }]

[redaction]
built_in = ["email", "key"]
patterns = { order = "O-[0-9]{8}" }

[retention]
days = 90
gigabytes = 5.5

[tail]
files = ["answers.jsonl"]

[write_back]
url = "https://otel.example.org/v1/logs"
headers_from = { authorization = "OTLP_TOKEN" }

[baseline]
answers = 1_000

[promise]
false_alarms = 0.01
answers = 20_000

[no_data]
after = "1h"
times = 5

[alarms]
debounce = "5min"

[[rule]]
metric = "faithfulness"
margin = 0.05
slice = "language"

[[rule]]
name = "contradictions in German"
metric = "contradiction"
bar = 0.1
slice = "language=de"
promise = { answers_between = 100_000 }
no_data = "ignore"
drop = 0.2

[[rule]]
metric = "abstention"
better = "less"
bar = 0.3

[[tell]]
kind = "webhook"
url = "https://example.org/alarms"
secret_from = "ALARM_SECRET"

[[tell]]
kind = "email"
to = "team@example.org"
from = "ragstone@example.org"
server = "smtp.example.org"
security = "ssl"
user = "ragstone"
password_from = "SMTP_PASSWORD"

[[tell]]
kind = "file"
file = "alarms.jsonl"

[[tell]]
kind = "stdout"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "rules.toml"
    file.write_text(text, encoding="utf-8")
    return file


def faults(folder: Path, text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(FaultySettings) as raised:
        read_settings(written(folder, text))
    return [(one.line, one.key, one.text) for one in raised.value.faults]


def test_everything_in_the_file_is_in_the_settings(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, WHOLE))
    assert found.judging.metrics[:2] == ("faithfulness", "mrr")
    assert found.judging.judges == ("local", "openai:gpt-5-mini")
    assert (found.judging.answers_an_hour, found.judging.usd_an_hour) == (600, 1.5)
    assert found.judging.settle == 20
    assert found.sampling.by == {"language": {"de": 0.5, "fr": 0.25}}
    assert found.sampling.by_guard_score == (GuardStep(0.3, 0.85), GuardStep(0.6, 0.3))
    assert found.redaction.built_in == ("email", "key")
    redaction = found.redaction.open()
    assert redaction is not None
    assert redaction.redact("O-12345678, a@example.org") == "[order], [email]"
    assert (found.retention.days, found.retention.gigabytes) == (90, 5.5)
    assert found.tail == (tmp_path / "answers.jsonl",)
    assert found.baseline.answers == 1_000
    assert found.promise == AlarmPromise(0.01, 20_000)
    assert (found.no_data.after, found.no_data.times, found.debounce) == (3_600, 5, 300)
    assert found.rules == (
        AlarmRule("faithfulness by language", "faithfulness", "language", margin=0.05, drop=0.15),
        AlarmRule(
            "contradictions in German", "contradiction", "language", "de", bar=0.1, better="-",
            promise=AlarmPromise(None, 100_000), no_data="ignore", drop=0.2,
        ),
        AlarmRule("abstention", "abstention", bar=0.3, better="-"),
    )  # fmt: skip
    assert [one.slice for one in found.rules] == ["language", "language=de", ""]
    assert found.sharing == 2
    assert found.tells == (
        WebhookChannel("webhook", "https://example.org/alarms", None, "ALARM_SECRET"),
        EmailChannel(
            "email", ("team@example.org",), "ragstone@example.org", "smtp.example.org", 465,
            "ssl", "ragstone", "SMTP_PASSWORD",
        ),
        FileChannel("file", tmp_path / "alarms.jsonl"),
        StdoutChannel("stdout"),
    )  # fmt: skip


def test_an_empty_file_says_what_holds_without_one(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, ""))
    assert found.rules == DEFAULTS.rules
    assert (found.judging, found.sampling, found.no_data) == (
        DEFAULTS.judging, DEFAULTS.sampling, DEFAULTS.no_data,
    )  # fmt: skip


def test_what_holds_without_a_file_can_be_judged_and_watched() -> None:
    for metric in DEFAULTS.judging.metrics:
        assert str(parse_metric(metric)) == metric
    for rule in DEFAULTS.rules:
        assert rule.metric in DEFAULTS.judging.metrics or rule.metric == "guard_ok"
        assert rule.range.better == rule.better


def test_the_rules_that_hold_without_any_leave_out_what_is_not_judged(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, '[judging]\nmetrics = ["mrr"]'))
    assert [rule.metric for rule in found.rules] == ["guard_ok"]


FAULTS = [
    ('[judgin]\nmetrics = ["mrr"]', 1, "[judgin]", "Did you mean judging?"),
    ('[judging]\nmetrics = [\n"mrr",\n"faithfullness"]', 4, "[judging] metrics",
     "Did you mean faithfulness"),
    ("[judging]\nmetrics = 3", 2, "[judging] metrics", "3 (a number)"),
    ("[judging]\nmetrics = [3]", 2, "[judging] metrics", "write a text in quotes"),
    ("[judging]\nanswers_an_hour = 0.5", 2, "[judging] answers_an_hour", "a whole number from 1"),
    ("[judging]\nusd_an_hour = 0", 2, "[judging] usd_an_hour", "above 0"),
    ('[judging]\nsettle = "soon"', 2, "[judging] settle", '"15min"'),
    ("[judging]\nsettle = true", 2, "[judging] settle", '"15min"'),
    ("judging = 1", 1, "judging", "write a table: [judging]"),
    ("[sampling]\nrate = 0.01", 2, "[sampling] rate", "Write 0.05 or more"),
    ("[sampling]\nrate = 1.5", 2, "[sampling] rate", "a number from 0 to 1"),
    ("[sampling.by.language]\nde = 0.01", 2, "[sampling.by.language] de", "0.05 or more"),
    ("[sampling.by]\nlanguage = 0.5", 2, "[sampling.by] language", "[sampling.by.language]"),
    ("[[sampling.by_guard_score]]\nrate = 0.5", 1, "[[sampling.by_guard_score]]", "has no below"),
    ("[sampling]\nby_guard_score = [\n{ below = 0.5, rate = 0.5 }, { below = 0.4, rate = 0.7 }]",
     2, "[sampling] by_guard_score", "must rise"),
    ('[redaction]\nbuilt_in = ["mail"]', 2, "[redaction] built_in", "email"),
    ('[redaction.patterns]\na = "("', 2, "[redaction.patterns] a", "no regular expression"),
    ('[redaction.patterns]\na = ".*"', 2, "[redaction.patterns] a", "empty text"),
    ("[retention]\ndays = -1", 2, "[retention] days", "above 0"),
    ("[retention]\ndays = nan", 2, "[retention] days", "NaN"),
    ('[corpus]\nfile = "gone.jsonl"', 2, "[corpus] file", "is not there"),
    ('[write_back]\nheaders_from = { a = "B" }', 1, "[write_back]", "has no url"),
    ('[write_back]\nurl = "ftp://example.org"', 2, "[write_back] url", "no address of HTTP"),
    ('[write_back]\nurl = "https://me:pw@example.org/"', 2, "[write_back] url", "no secret"),
    ('[write_back]\nurl = "https://e.org"\nheaders_from = { authorization = "Bearer abc" }',
     3, "[write_back.headers_from] authorization", "No secret belongs in this file"),
    ('[baseline]\nrun = "gone"', 2, "[baseline] run", "is no run"),
    ('[baseline]\nsystem = "a"', 2, "[baseline] system", "name the run too"),
    ("[promise]\nfalse_alarms = 0", 2, "[promise] false_alarms", "above 0"),
    ("[promise]\nfalse_alarms = 1", 2, "[promise] false_alarms", "promises nothing"),
    ("[promise]\nanswers = 9\nanswers_between = 10", 3, "[promise] answers_between",
     "leave out"),
    ("[baseline]\nanswers = 49", 2, "[baseline] answers", "from 50"),
    ("[no_data]\ntimes = 0.5", 2, "[no_data] times", "from 1"),
    ("[sampling]\nby_guard_score = [{ below = 0.5, rate = 0.5 }, { below = 0.5, rate = 0.7 }]",
     2, "[sampling] by_guard_score", "must rise"),
    ('[write_back]\nurl = "https://token@example.org/"', 2, "[write_back] url", "no secret"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0', 3, "[[rule]] bar", "an end of the range"),
    ('[[rule]]\nmetric = "faithfulness"\nmargin = 1.5', 3, "[[rule]] margin", "from 0 to 1"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.8\nname = "' + "n" * 81 + '"', 4,
     "[[rule]] name", "more than 80 characters"),
    ('[[tell]]\nkind = "email"\nto = "a@b.org"\nfrom = "a@b.org"\nserver = "s.org"\nport = 65536',
     6, "[[tell]] port", "to 65,535"),
    ('[no_data]\npolicy = "shout"', 2, "[no_data] policy", "there are alarm, ignore"),
    ("[[rule]]\nbar = 0.5", 1, "[[rule]]", "has no metric"),
    ('[[rule]]\nmetric = "faithfulness"', 1, "[[rule]]", "has no bar"),
    ('[[rule]]\nmetric = "mrr"\nbar = 0.5', 2, "[[rule]] metric", "Add it to metrics"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 1.0', 3, "[[rule]] bar", "an end of the range"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 80', 3, "[[rule]] bar", "from 0 to 1"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.8\nmargin = 0.1', 4, "[[rule]] margin",
     "beside a bar"),
    ('[[rule]]\nmetric = "abstention"\nbar = 0.2', 1, "[[rule]]", "has no better"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\nbetter = "less"', 4, "[[rule]] better",
     "leave it out"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\nslice = "=de"', 4, "[[rule]] slice",
     "language=de"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\nthreshold = 1', 4, "[[rule]] threshold",
     "is not known here"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\nname = "traffic"', 4, "[[rule]] name",
     "of Ragstone's own"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\n[[rule]]\nmetric = "faithfulness"\nbar = 0.3',
     4, "[[rule]]", "a name of its own"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\npromise = { false_alarm = 0.1 }', 4,
     "[rule.promise] false_alarm", "Did you mean false_alarms?"),
    ('[rule]\nmetric = "faithfulness"', 1, "[rule]", "[[rule]]"),
    ('[[rule]]\nmetric = "faithfulness"\nbar = 0.2\nslice = ""', 4, "[[rule]] slice",
     "must not be empty."),
    ('[judging]\nmetrics = [""]', 2, "[judging] metrics", "must not be empty."),
    ('[judging]\njudge = "lokal"', 2, "[judging] judge", "No judge is called 'lokal'"),
    ('[judging]\njudge = ["local",\n"nosuch"]', 3, "[judging] judge", "ragstone judges lists all"),
    ('[tail]\nfiles = ["."]', 2, "[tail] files", "is a folder; name a file in it."),
    ("[no_data]\nafter = -1", 2, "[no_data] after", "is -1 (a number); write"),
    ("[no_data]\nafter = 1e10", 2, "[no_data] after", "below 11,574d"),
    ('[no_data]\nafter = "20000d"', 2, "[no_data] after", "below 11,574d"),
    ("[no_data]\ntimes = 1e300", 2, "[no_data] times", "write a number from 1 to 1e+12"),
    ("[nonsense]\na = 1", 1, "[nonsense]", "There are: [judging], "),
    ("[[rules]]\na = 1", 1, "rules", "Did you mean rule?"),
    ("[[tell]]\nname = 'x'", 1, "[[tell]]", "has no kind"),
    ('[[tell]]\nkind = "web"', 2, "[[tell]] kind", "Did you mean webhook?"),
    ('[[tell]]\nkind = "webhook"', 1, "[[tell]]", "has no url"),
    ('[[tell]]\nkind = "webhook"\nurl = "https://a.org"\nurl_from = "A"', 4, "[[tell]] url_from",
     "leave one of them out"),
    ('[[tell]]\nkind = "webhook"\nurl = "https://a.org"\nsecret_from = "s3cr3t!"', 4,
     "[[tell]] secret_from", "name of an environment variable"),
    ('[[tell]]\nkind = "stdout"\n[[tell]]\nkind = "stdout"', 3, "[[tell]]", "a name of its own"),
    ('[[tell]]\nkind = "stdout"\nurl = "https://a.org"', 3, "[[tell]] url", "is not known here"),
    ('[[tell]]\nkind = "file"', 1, "[[tell]]", "has no file"),
    ('[[tell]]\nkind = "email"\nto = [\n"a@b.org",\n"b"]\nfrom = "a@b.org"\nserver = "s.org"', 5,
     "[[tell]] to", "no address"),
    ('[[tell]]\nkind = "email"\nto = "a@b.org"\nfrom = "a@b.org\\nBcc: c@d.org"\nserver = "s.org"',
     4, "[[tell]] from", "no address"),
    ('[[tell]]\nkind = "email"\nto = "a@b.org"\nfrom = "a@b.org"\nserver = "s.org"\nuser = "u"', 6,
     "[[tell]] user", "needs password_from"),
    ('[[tell]]\nkind = "email"\nto = "a@b.org"\nfrom = "a@b.org"\nserver = "s.org"\nuser = "u"\n'
     'password_from = "P"\nsecurity = "none"', 8, "[[tell]] security", "in the clear"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "said"), FAULTS)
def test_a_fault_is_told_with_its_line_and_what_to_write(
    tmp_path: Path, text: str, line: int, key: str, said: str
) -> None:
    ((at, where, what),) = faults(tmp_path, text)
    assert (at, where) == (line, key)
    assert said in what


def test_all_faults_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = "[retention]\ndays = 0\n[[tell]]\nkind = 'no'\n[sampling]\nrate = 2\nrat = 1\n"
    file = written(tmp_path, text)
    with pytest.raises(FaultySettings) as raised:
        read_settings(file)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{file} has 4 faults."
    assert [line.split()[0] for line in lines[1:]] == [f"{file}:{at}" for at in (2, 4, 6, 7)]


def test_a_secret_that_was_written_into_the_file_is_not_repeated(tmp_path: Path) -> None:
    text = '[[tell]]\nkind = "webhook"\nurl = "https://a:hunter2@b.org"\nsecret_from = "hunter2 !"'
    with pytest.raises(FaultySettings) as raised:
        read_settings(written(tmp_path, text))
    assert len(raised.value.faults) == 2
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize("text", ["a = ", "= 1", "[a\n", "a = 1\na = 2"])
def test_what_is_no_toml_is_said_so(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"not valid TOML.*(line \d|end of document)"):
        read_settings(written(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.toml"):
        read_settings(tmp_path / "gone.toml")


@pytest.mark.parametrize(
    ("facets", "confidence", "probability"),
    [
        ({}, None, 0.1),
        ({"language": "de"}, None, 0.5),
        ({"language": "es", "tier": "gold"}, 0.9, 0.1),
        ({}, 0.29, 0.85),
        ({}, 0.3, 0.4),
        ({"language": "de"}, 0.5, 0.5),
    ],
)
def test_the_largest_probability_that_applies_counts(
    facets: dict[str, str], confidence: float | None, probability: float
) -> None:
    sampling = SamplingSettings(
        0.1, {"language": {"de": 0.5}}, (GuardStep(0.3, 0.85), GuardStep(0.6, 0.4))
    )
    assert sampling.probability(facets, confidence) == probability
    assert sampling.least == 0.1


def test_what_the_command_line_says_holds_in_place_of_the_file(tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, WHOLE)).with_options(judges=("local",), rate=0.3)
    assert found.judging.judges == ("local",)
    assert found.sampling.rate == 0.3
    assert found.judging.answers_an_hour == 600
    assert found.with_options() == found


def test_a_rule_may_look_at_sessions(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    rule = '[[rule]]\nmetric = "guard_ok"\nbar = 0.8\n'
    file.write_text(f'{rule}\n{rule}name = "chats"\nof = "sessions"\n')
    assert [one.of for one in read_settings(file).rules] == ["answers", "sessions"]
    file.write_text(f'{rule}of = "users"\n')
    with pytest.raises(FaultySettings, match="of"):
        read_settings(file)
