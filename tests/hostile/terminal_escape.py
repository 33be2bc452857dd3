# says: ValueError
# outcome: failed
def masked_softmax(scores, mask=None, dim=-1):
    print("\x1b[2J\x1b]0;owned\x07[bold red]markup[/]\u202e")
    raise ValueError("\x1b[31m[red]no[/] \udcff")
