"""Neural scorers of sentences for a query: vectors in, one score a sentence out; PyTorch, no database.

`settings` says what can be trained, `search` draws and trains it, `model` answers. torch is imported by every
module here but `settings`, `space` and `measures`; nothing else imports them before it trains or answers.
"""
