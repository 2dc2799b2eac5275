from ragstone.core.files import cache_folder as cache_folder

from .download import BUILTIN as BUILTIN
from .embedding_cache import CachedEncoder as CachedEncoder
from .embedding_cache import CachedTexts as CachedTexts
from .embedding_cache import clear as clear
from .embedding_cache import kept as kept
from .encoder import Encoder as Encoder
from .encoder import TokenVectors as TokenVectors
from .encoder import Vectors as Vectors
from .encoder_names import available as available
from .encoder_names import open_encoder as open_encoder
from .encoder_names import pull as pull
from .model_store import Stored as Stored
from .model_store import damage as damage
from .model_store import stored as stored
