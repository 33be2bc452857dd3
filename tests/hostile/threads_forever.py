# says: your file starts a thread
# outcome: failed crashed
import threading, time
def masked_softmax(scores, mask=None, dim=-1):
    for _ in range(50):
        threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
    return scores * 0
