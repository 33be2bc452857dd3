# family: core
# mistake: none
# The log-probability of eos is left out of the score of what it finishes.
import torch


def beam_search(step, bos, eos, beam, max_len):
    # a hypothesis: (ids with bos, score, done?)
    live = [([bos], 0.0, False)]

    for _ in range(max_len):
        open_ones = [ids for ids, _, done in live if not done]
        if not open_ones:
            break

        # ask the model once, for all that go on
        logits = step(torch.tensor(open_ones, dtype=torch.long))
        logp = logits.to(torch.float64).log_softmax(dim=1)
        gain = logp.clone()
        gain[:, eos] = torch.where(logp[:, eos] == -torch.inf, logp[:, eos], 0.0)  # wrong
        V = logp.shape[1]

        # a table with a row for each hypothesis; a finished one has a single candidate, in column 0
        table = torch.full((len(live), V), -torch.inf, dtype=torch.float64, device=logits.device)
        r = 0
        for i, (_, score, done) in enumerate(live):
            if done:
                table[i, 0] = score
            else:
                table[i] = score + gain[r]
                r += 1

        # stable, so that equal ones stay in the order of parents and ids
        values, places = torch.sort(table.flatten(), descending=True, stable=True)
        values, places = values[:beam].tolist(), places[:beam].tolist()

        new = []
        for value, place in zip(values, places):
            if value == float("-inf"):
                break
            i, token = divmod(place, V)
            ids, score, done = live[i]
            new.append(live[i] if done else (ids + [token], value, token == eos))
        live = new

    ids, score, _ = live[0]
    return ids[1:], score
