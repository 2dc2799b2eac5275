"""Encoders: the encoder and the cross-encoder of a run, opened if its metrics need them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ragstone.core.errors import MissingDependency, ModelError, ModelFailure
from ragstone.judgements import ASKS, Agreement, ConversationSupport, Relevance, Support
from ragstone.judges import Judge
from ragstone.judges.judge_names import LOCAL
from ragstone.judges.similarity import BertscoreOptions, BertscoreSettings
from ragstone.models import BUILTIN, Encoder, open_encoder
from ragstone.models.cross_encoder import CrossEncoder, open_cross_encoder
from ragstone.models.model_store import find

from .encoder_names import BERTSCORE_ASKS, ModelNames


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
    options = bertscore or BertscoreOptions()
    wanted = not BERTSCORE_ASKS.isdisjoint(asks)
    own = open_encoder(options.model, offline=offline) if options.model and wanted else None
    others = asks if own is None else [ask for ask in asks if ask not in BERTSCORE_ASKS]
    encoder, lacking = encoder_for(others, fillable, embedder, offline=offline)
    if encoder is None and lacking is None:
        encoder = own
    second = cross_encoder_of(cross_encoder, offline=offline)
    settings = None
    if encoder is not None and wanted and (encoder.layers or options != BertscoreOptions()):
        settings = options.settle(encoder, references, own)
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
    ask.name
    for ask in (
        *Relevance.asks,
        *Support.asks,
        *ConversationSupport.asks,
        Agreement.ask("statement"),
    )
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
