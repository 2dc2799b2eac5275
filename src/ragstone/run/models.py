"""Models: the encoder and the cross-encoder of a run, opened if its metrics need them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ragstone.errors import MissingDependency, ModelError, ModelFailure
from ragstone.judgements import ASKS, BERTSCORES, Agreement, Relevance, Similarity, Support
from ragstone.judges import Judge
from ragstone.judges.names import LOCAL
from ragstone.judges.similarity import BertscoreOptions, BertscoreSettings
from ragstone.models import BUILTIN, Encoder, open_encoder
from ragstone.models.cross_encoder import CrossEncoder, open_cross_encoder
from ragstone.models.store import find

BERTSCORE_ASKS = frozenset(Similarity.ask(measure).name for measure in BERTSCORES)


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The models of a run by name, as stored in its manifest.

    Args:
        encoder: Name and fingerprint; None if none is needed or none could be opened.
        reads: The encoder's token limit; 0 if unknown.
        bertscore: The settings of BERTScore; None if it is not computed.
        cross_encoder: Name and fingerprint; None if none was named.
        lacking: Why a required encoder is not available.
        strings: Why the local judge does not use the stored encoder.
    """

    encoder: str | None = None
    reads: int = 0
    bertscore: str | None = None
    cross_encoder: str | None = None
    lacking: str | None = None
    strings: str | None = None

    def settings(self) -> dict[str, str | None]:
        """The settings that a resumed run must share."""
        return {
            "encoder": self.encoder,
            "bertscore": self.bertscore,
            "cross_encoder": self.cross_encoder,
        }

    def signature(self, asks: Collection[str]) -> list[str]:
        """The part of a signature for numbers that depend on these asks."""
        by = {filler for ask in asks for filler in ASKS[ask].by}
        words = []
        if self.encoder and "encoder" in by:
            words.append(f"encoder:{_short(self.encoder)}")
        if self.bertscore and not BERTSCORE_ASKS.isdisjoint(asks):
            words.append(f"bertscore:{self.bertscore}")
        if self.cross_encoder and "cross_encoder" in by:
            words.append(f"cross_encoder:{_short(self.cross_encoder)}")
        return words


NO_MODELS = ModelNames()
"""Nothing was compared."""


@dataclass(frozen=True, slots=True)
class Models:
    """The opened models of a run; see ``ModelNames``."""

    encoder: Encoder | None = None
    bertscore: BertscoreSettings | None = None
    cross_encoder: CrossEncoder | None = None
    lacking: str | None = None

    @property
    def opened(self) -> ModelNames:
        """The names of the models."""
        encoder, settings, second = self.encoder, self.bertscore, self.cross_encoder
        return ModelNames(
            encoder=None if encoder is None else identity(encoder),
            reads=0 if encoder is None else encoder.max_tokens,
            bertscore=None if encoder is None or settings is None else settings.about(encoder),
            cross_encoder=None if second is None else identity(second),
            lacking=self.lacking,
        )


def open_models(
    asks: Collection[str],
    fillable: Collection[str],
    references: Iterable[str],
    *,
    embedder: str | Encoder | None = None,
    cross_encoder: str | CrossEncoder | None = None,
    bertscore: BertscoreOptions | None = None,
    offline: bool = False,
) -> Models:
    """Open the named models, and the default encoder if a metric needs one.

    Args:
        asks: The asks of the requested metrics; not those that ``quick`` may choose.
        fillable: The asks that judges without a model can judge.
        references: All of the data's; read only for the idf of BERTScore.
        embedder: None: ``builtin:minilm`` if it is needed; without it, what rests on it is
            missing.
        cross_encoder: None: there is no default.
        bertscore: The requested settings.
        offline: Download nothing.

    Raises:
        UnknownName: A name is not valid.
        ModelError: A named model cannot be used, or not with these BERTScore settings.
        MissingDependency: A named model needs a package that is not installed.
        InputError: A baseline of BERTScore is not available.
    """
    encoder, lacking = encoder_for(asks, fillable, embedder, offline=offline)
    second = cross_encoder_of(cross_encoder, offline=offline)
    options = bertscore or BertscoreOptions()
    settings = None
    wanted = not BERTSCORE_ASKS.isdisjoint(asks)
    if encoder is not None and wanted and (encoder.layers or options != BertscoreOptions()):
        settings = options.settle(encoder, references)
    return Models(encoder, settings, second, lacking)


def encoder_for(
    asks: Collection[str],
    fillable: Collection[str],
    embedder: str | Encoder | None,
    *,
    offline: bool,
) -> tuple[Encoder | None, str | None]:
    """The encoder, or why the required default one is not available."""
    if embedder is not None and not isinstance(embedder, str):
        return embedder, None
    if embedder is not None:
        return open_encoder(embedder, offline=offline), None
    if not any(needs_encoder(ask, fillable) for ask in asks):
        return None, None
    try:
        return open_encoder(BUILTIN, offline=offline), None
    except (ModelError, ModelFailure, MissingDependency) as error:
        return None, " ".join(error.text.split())


def local_encoder(
    judges: Iterable[Judge], asks: Collection[str], had: Encoder | None
) -> tuple[Encoder | None, str | None]:
    """The encoder of the local judge: the built-in one, if it is on this machine.

    Or why the stored one cannot be used; None if none is stored.
    """
    asked = any(judge.name == LOCAL for judge in judges) and not ALIGNED_ASKS.isdisjoint(asks)
    if not asked:
        return None, None
    if had is not None and had.name == BUILTIN:
        return had, None
    if find(BUILTIN) is None:
        return None, None
    try:
        return open_encoder(BUILTIN, offline=True), None
    except (ModelError, MissingDependency) as error:
        return None, " ".join(error.text.split())


ALIGNED_ASKS = frozenset(
    ask.name for ask in (*Relevance.asks, *Support.asks, Agreement.ask("statement"))
)
"""What the local judge judges better with an encoder."""


def cross_encoder_of(given: str | CrossEncoder | None, *, offline: bool) -> CrossEncoder | None:
    """Open the named cross-encoder."""
    return open_cross_encoder(given, offline=offline) if isinstance(given, str) else given


def identity(model: Encoder | CrossEncoder) -> str:
    """The model's name and fingerprint."""
    return f"{model.name}@{model.fingerprint}"


def needs_encoder(ask: str, fillable: Collection[str]) -> bool:
    """Whether an ask compares texts that are in the data, or that a judge can make."""
    return "encoder" in ASKS[ask].by and all(made in fillable for made in ASKS[ask].after)


def _short(identity: str) -> str:
    name, _, fingerprint = identity.rpartition("@")
    return f"{name}@{fingerprint[:12]}"
