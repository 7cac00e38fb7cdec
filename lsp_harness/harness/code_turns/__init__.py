"""One prompt of the driver "code": from the words of the user to a checked proposal or an answer."""
