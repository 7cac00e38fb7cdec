# The settings of an interactive bash that lsp-harness starts: those of the user, and reports of its state (OSC 7501).
[ -r ~/.bashrc ] && . ~/.bashrc
PS0="${PS0-}"'\e]7501;state=working:app=shell\e\\'
PS1="${PS1-}"'\[\e]7501;state=idle:app=shell\e\\\]'
