# says: does not load: .*exit status 0
# outcome: crashed
import os
os._exit(0)
