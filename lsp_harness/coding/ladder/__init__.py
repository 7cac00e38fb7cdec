"""The repair of code whose tests fail, by a ladder of strategies from cheap to expensive."""
