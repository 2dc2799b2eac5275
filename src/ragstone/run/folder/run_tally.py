"""Run tally: counts over a run's shards, its ``run.json``, and labels that break a hard rule."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from ragstone.core.files import RunEntry
from ragstone.core.messages import Reason
from ragstone.data import Example, violations
from ragstone.judgements import ASKS, Relevance, Similarity, Support
from ragstone.judges import Judge, fingerprint
from ragstone.judges.judge import LOCAL, NO_TEXT, OF_NO_USE
from ragstone.run.calls.journal_reader import served, totals
from ragstone.run.settings import TEXT_ASKS, ModelNames, RunSettings

from .checksums import as_line
from .schemas import Counted


@dataclass(slots=True)
class Violations:
    """Label violations of the examples that passed by, which are scored as given."""

    # One for each rule that is broken, as ``label_violations.jsonl`` has them.
    lines: list[str] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)

    def watch(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Pass examples on, and note the rules that their labels break."""
        for example in examples:
            for violation in violations(example.labels) if example.labels else ():
                self.rules[violation.rule] += 1
                names = ("rule", "severity", "where")
                facts = {name: getattr(violation, name) for name in names}
                self.lines.append(as_line({"example_id": example.id, **facts}))
            yield example


VERSION = version("ragstone")

# Digits of a model's fingerprint, and how many of them a signature shows.
FINGERPRINT, SHOWN = 32, 12

FAILED = ("failed", "blocked", "truncated")

# Rows of the ledger where a model did not answer, so that it can be asked again.
UNANSWERED = (
    pl.col("ask").str.starts_with(f"{Similarity.name}/")
    & (pl.col("status") == "failed")
    & pl.col("reason").str.ends_with(NO_TEXT).not_()
)

# Ask, judge and ledger status.
AskOutcome = tuple[str, str, str]


@dataclass(slots=True)
class RunTally:
    """Counts over the shards of a run."""

    examples: int = 0
    outcomes: Counter[AskOutcome] = field(default_factory=Counter)
    # Texts that were compared, by measure of similarity, each distinct pair of a shard once.
    pairs: Counter[str] = field(default_factory=Counter)
    # Pairs of which a text was longer than the model reads.
    cut: Counter[str] = field(default_factory=Counter)
    # Questions to models that came to nothing, by judge, status and reason.
    failed_calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    # Counts of ``quotes``, ``unfound`` ones and ``unknown`` ids of contexts in models' support.
    quotes: Counter[str] = field(default_factory=Counter)
    # Languages of the texts that the local judge judged; empty where too little tells.
    languages: Counter[str] = field(default_factory=Counter)
    # Similarities that failed because their model did.
    unanswered: int = 0
    # Replies to a judge's questions, by judge and the model that its server names.
    served: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of_shard(cls, examples: int, tables: Mapping[str, pl.DataFrame]) -> "RunTally":
        """Count a judged shard."""
        tally = cls()
        tally.add(examples, tables["ledger"], tables.get(Similarity.name))
        tally.count_calls(tables["ledger"], tables.get(Support.name))
        tally.count_languages(tables["ledger"], tables["examples"])
        return tally

    def add(
        self, examples: int, ledger: pl.DataFrame, similarities: pl.DataFrame | None = None
    ) -> None:
        self.examples += examples
        if similarities is not None:
            counts = similarities.group_by(pl.col("measure").cast(pl.String)).agg(
                pl.len(), pl.col("cut").sum()
            )
            for measure, pairs, cut in counts.iter_rows():
                self.pairs[measure] += pairs
                self.cut[measure] += cut
        self.unanswered += ledger.filter(UNANSWERED).height
        counted = ledger.group_by("ask", "judge", "status").len()
        for ask, judge, status, count in counted.iter_rows():
            self.outcomes[ask, judge, status] += count

    def count_calls(self, ledger: pl.DataFrame, support: pl.DataFrame | None) -> None:
        """Count what models left open, wholly or in part, and evidence that was not found."""
        failed = ledger.filter(
            pl.col("requests").is_not_null()
            & (pl.col("status").is_in(FAILED) | pl.col("reason").is_not_null())
        ).unique(["requests", "judge"])
        counted = failed.group_by("judge", "status", "reason").len()
        for judge, status, reason, count in counted.iter_rows():
            self.failed_calls[judge, status, reason or ""] += count
        if support is not None and support.height:
            counts = support.select(
                quotes=pl.col("quote_found").count(),
                unfound=(~pl.col("quote_found")).sum(),
                unknown=pl.col("evidence_unknown").sum(),
            ).row(0, named=True)
            self.quotes.update(counts)

    def count_languages(self, ledger: pl.DataFrame, examples: pl.DataFrame) -> None:
        """Count the languages of what the local judge judged: questions if it read no answer."""
        local = ledger.filter(pl.col("judge").str.starts_with(LOCAL) & (pl.col("status") == "ok"))
        read = "question" if {*local["ask"]} <= {Relevance.name} else "answer"
        texts = examples.filter(pl.col("id").is_in(local["example_id"].implode()))[read]
        # Opening a run needs no judge, whose tables take a tenth of a second to load.
        from ragstone.judges.local.languages import language_of

        self.languages.update(language_of(text) or "" for text in texts.drop_nulls())

    def join(self, counted: Counted, examples: int = 0) -> None:
        """Add the counts of a shard, or of a run."""
        self.examples += examples
        for ask, judge, status, count in counted.judged:
            self.outcomes[ask, judge, status] += count
        for measure, counts in counted.compared.items():
            self.pairs[measure] += counts.pairs
            self.cut[measure] += counts.cut
        for judge, status, reason, count in counted.left_open:
            self.failed_calls[judge, status, reason] += count
        self.quotes.update(counted.quotes)
        self.unanswered += counted.unanswered
        self.languages.update(counted.languages)

    @property
    def counted(self) -> dict[str, Any]:
        """The counts as ``run.json`` and the ledger keep them."""
        return {
            "unanswered": self.unanswered,
            "judged": _listed(sorted(self.outcomes.items())),
            "compared": {
                measure: {"pairs": pairs, "cut": self.cut[measure]}
                for measure, pairs in sorted(self.pairs.items())
            },
            "left_open": _listed(sorted(self.failed_calls.items())),
            "quotes": dict(self.quotes),
            "languages": dict(sorted(self.languages.items())),
        }

    def count_served(self, folder: Path) -> None:
        """Count the replies in the journal, if there is one."""
        if (journal := folder / RunEntry.JOURNAL).is_file():
            self.served = served(journal)

    @property
    def retryable(self) -> int:
        """The number of failed questions for which asking again may help."""
        failed = 0
        for (_, status, why), count in self.failed_calls.items():
            if status != "blocked" and Reason.read(why).code not in OF_NO_USE:
                failed += count
        return failed

    def judges_by_ask(self) -> dict[str, str]:
        """The judges whose judgements count, by ask, such as ``local 80%+human 20%``."""
        by_ask: dict[str, dict[str, int]] = {}
        for (ask, judge, status), count in self.outcomes.items():
            if status == "ok":
                by_ask.setdefault(ask, {})[judge] = count
        shares = {}
        for ask, counts in by_ask.items():
            names = sorted(counts)
            if len(names) > 1:
                total = sum(counts.values())
                largest_first = sorted(names, key=counts.__getitem__, reverse=True)
                names = [f"{judge} {counts[judge] / total:.0%}" for judge in largest_first]
            shares[ask] = "+".join(names)
        return shares

    def filled_by(self, judges: Collection[str]) -> frozenset[str]:
        """The asks on which the word of one of these judges counts."""
        return frozenset(
            ask for ask, judge, status in self.outcomes if status == "ok" and judge in judges
        )

    def kinds(self, judge: Judge) -> list[str]:
        """The kinds that a judge filled; an encoder may have the name of a chat model."""
        kinds = {
            ASKS[ask].kind
            for ask, name, _ in self.outcomes
            if name == judge.name and ask in judge.asks
        }
        return sorted(kinds)


def manifest(
    settings: RunSettings, tally: RunTally, judges: Sequence[Judge], opened: ModelNames, *,
    finished: bool, **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """The content of ``run.json``; ``more`` is what else the run knows by then."""
    return {
        "ragstone": VERSION,
        "polars": pl.__version__,
        "finished": finished,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "signature": _signature(settings, tally, opened),
        "settings": settings.to_dict(),
        "judges": [
            {"name": judge.name, "about": judge.about, "kinds": tally.kinds(judge)}
            for judge in judges
        ],
        "models": asdict(opened),
        "unheard": tally.retryable,
        **tally.counted,
        "served": _listed(tally.served.items()),
        **more,
    }


def _listed(counts: Iterable[tuple[tuple[str, ...], int]]) -> list[list[str | int]]:
    return [[*which, count] for which, count in counts]


def calls_of(folder: Path) -> dict[str, Any] | None:
    journal = folder / RunEntry.JOURNAL
    return asdict(totals(journal)) if journal.is_file() else None


def _signature(settings: RunSettings, tally: RunTally, opened: ModelNames) -> str:
    judges = sorted({judge for _, judge, _ in tally.outcomes})
    parts = [f"data:{settings.data[:12]}", f"judges:{'+'.join(judges) or 'none'}"]
    if settings.local and any(name.startswith(LOCAL) for name in judges):
        parts.append(f"local/2@{fingerprint(settings.local)[:SHOWN]}")
    parts += [identity[: -FINGERPRINT + SHOWN] for identity in settings.nli]
    parts += opened.signature(ASKS.keys() - TEXT_ASKS | tally.judges_by_ask().keys())
    if (chat := settings.llm) is not None:
        parts.append(f"models:{fingerprint(chat.judges)[:SHOWN]}")
        parts.append(f"prompts:{fingerprint(chat.prompts, chat.rubrics)[:SHOWN]}")
        parts.append(f"plan:{chat.plan}")
    return "|".join([*parts, f"cluster:{settings.cluster}", f"ragstone:{VERSION}"])
