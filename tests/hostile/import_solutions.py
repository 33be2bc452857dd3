# says: does not load: ModuleNotFoundError
# outcome: failed
import solutions.masked_softmax.reference
from solutions.masked_softmax.reference import masked_softmax
