"""The indexes of the workspace folders of a client, and questions to them."""
