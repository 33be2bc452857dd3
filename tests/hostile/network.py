# says: PermissionError
# outcome: failed
import socket
def masked_softmax(scores, mask=None, dim=-1):
    socket.create_connection(("127.0.0.1", 9), timeout=1)
