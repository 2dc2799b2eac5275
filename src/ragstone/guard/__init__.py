"""Guard: checks an answer before a user gets it, with the judges that evaluate a run.

assess         checks one answer: what failed, where in the answer, and what to do with it
Guard          does the same with settings that hold for every request
Checks         what is checked, and the value from which a check passes
Gate           thresholds that keep a promise: an answer passes, is blocked, or somebody is asked
improve        asks your model for a better answer, and returns the best of all
assess_stream  passes an answer on sentence by sentence, each once it is judged; aassess_stream
               for asynchronous sources, pushed_stream for pieces that you push
"""

from ragstone.core.lazy_package import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
