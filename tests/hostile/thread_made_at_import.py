# says: your file starts a thread
# outcome: failed
import queue
from concurrent.futures import ThreadPoolExecutor
import torch

pool = ThreadPoolExecutor(1)
pool.submit(int)

def masked_softmax(scores, mask=None, dim=-1):
    return pool.submit(torch.softmax, scores, dim).result()
