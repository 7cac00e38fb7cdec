;;; smoke.el --- eglot against `lsp-harness serve', in batch mode -*- lexical-binding: t -*-

;; Run by test_eglot.py: `emacs -q --batch -l smoke.el' in a project with demo.py.  SNIPPET is the file with what the
;; documentation tells people to put into their init.el.  Each step prints `ok STEP', or ends Emacs.

(require 'cl-lib)
(package-initialize)
(load (getenv "SNIPPET") nil t)
(require 'flymake)

(setq eglot-autoshutdown t
      eglot-send-changes-idle-time 0.1
      backup-inhibited t
      create-lockfiles nil)

(defun said (step &rest facts)
  "Tell that STEP went well, with FACTS about it."
  (message "ok %s %S" step facts))

(defun wait-for (step holds)
  "Let messages come in until HOLDS, then tell STEP and what HOLDS returned."
  (let ((end (+ (float-time) 20)) found)
    (while (not (or (setq found (funcall holds)) (> (float-time) end)))
      (accept-process-output nil 0.1))
    (unless found
      (message "FAIL %s\n%s" step (buffer-string))
      (dolist (buffer (buffer-list))
        (when (string-match-p "EGLOT.*\\(events\\|stderr\\)" (buffer-name buffer))
          (message "%s\n%s" buffer (with-current-buffer buffer (buffer-string)))))
      (kill-emacs 1))
    (said step found)
    found))

(defun choose-with (text)
  "A `completing-read' that takes the choice with TEXT in it."
  (lambda (_prompt choices &rest _)
    (let ((names (mapcar (lambda (choice) (if (consp choice) (car choice) choice)) choices)))
      (cl-find-if (lambda (name) (string-match-p (regexp-quote text) name)) names))))

(find-file "demo.py")
;; what `eglot-ensure' waits for; there are no commands in batch mode
(run-hooks 'post-command-hook)
(wait-for "connected" #'eglot-current-server)
(flymake-mode 1)

;; the end of the third line, where the model has something to say
(goto-char (point-min))
(forward-line 2)
(end-of-line)
;; asked once: the command belongs to this very item
(defvar item nil)
(let* ((found (eglot-completion-at-point))
       (proxies (all-completions "" (nth 2 found)))
       (completion-at-point-functions (list (lambda () found))))
  (setq item (get-text-property 0 'eglot--lsp-item (car proxies)))
  (said "item" (substring-no-properties (car proxies)))
  (completion-at-point))
(wait-for "completed" (lambda () (string-match-p "return total / len(valeus)" (buffer-string))))

;; Emacs runs no command of a completion item, so this says it by hand
(eglot--signal-textDocument/didChange)
(let ((command (plist-get item :command)))
  (eglot-execute-command (eglot-current-server) (plist-get command :command) (plist-get command :arguments)))
(said "command")

(flymake-start)
(let* ((found (car (wait-for "diagnostic" #'flymake-diagnostics)))
       (beg (flymake-diagnostic-beg found))
       (end (flymake-diagnostic-end found)))
  (said "about" (flymake-diagnostic-text found))
  (said "actions" (mapcar (lambda (action) (plist-get action :title)) (eglot-code-actions beg end "quickfix")))
  ;; there are two, the other tells why; asked in the minibuffer, as after a key, not by a popup menu
  (cl-letf ((last-nonmenu-event ?x)
            ((symbol-function 'completing-read) (choose-with "Fix with lsp-harness"))
            ;; whether the server may edit
            ((symbol-function 'y-or-n-p) (lambda (prompt) (said "asked" prompt) t)))
    (eglot-code-actions beg end "quickfix" t)))
(wait-for "fixed" (lambda () (string-match-p "return total / len(values)" (buffer-string))))
;; Emacs tells of a change when it is idle, which it never is in batch mode
(eglot--signal-textDocument/didChange)
(wait-for "clean" (lambda () (flymake-start) (null (flymake-diagnostics))))

(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(said "shutdown")
;;; smoke.el ends here
