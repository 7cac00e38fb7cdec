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

(defun fix (step beg end)
  "Tell as STEP what is offered between BEG and END, and choose the fix."
  (said step (mapcar (lambda (action) (plist-get action :title)) (eglot-code-actions beg end "quickfix")))
  ;; asked in the minibuffer, as after a key, not by a popup menu
  (cl-letf ((last-nonmenu-event ?x)
            ((symbol-function 'completing-read) (choose-with "Fix with lsp-harness"))
            ;; whether the server may edit
            ((symbol-function 'y-or-n-p) (lambda (prompt) (said "asked" prompt) t)))
    (eglot-code-actions beg end "quickfix" t)))

(flymake-start)
(let ((found (car (wait-for "diagnostic" #'flymake-diagnostics))))
  (said "about" (flymake-diagnostic-text found))
  ;; beside the fix there is an action that tells why
  (fix "actions" (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))
(wait-for "fixed" (lambda () (string-match-p "return total / len(values)" (buffer-string))))
;; Emacs tells of a change when it is idle, which it never is in batch mode
(eglot--signal-textDocument/didChange)
(wait-for "clean" (lambda () (flymake-start) (null (flymake-diagnostics))))

(defun reported (name)
  "Show `NAME' as undefined, as a server does that has read an older text; return where it is."
  (goto-char (point-max))
  (search-backward name)
  (let* ((beg (point))
         (end (+ beg (length name)))
         (range (list :start (eglot--pos-to-lsp-position beg) :end (eglot--pos-to-lsp-position end)))
         (text (format "Undefined name `%s`" name))
         (diagnostic (list :range range :severity 1 :source "Ruff" :code "F821" :message text)))
    (cl-letf (((symbol-function 'flymake-diagnostics)
               (lambda (&rest _)
                 (list (eglot--make-diag (current-buffer) beg end :error text `((eglot-lsp-diag . ,diagnostic)))))))
      (fix (format "reported %s" name) beg end))))

;; the name is there and known: what was said of it is over
(let ((text (buffer-string)))
  (condition-case problem
      (reported "values")
    (error (said "refused" (error-message-string problem))))
  (when (equal text (buffer-string)) (said "unchanged")))

;; of two names that are as likely the model chooses one
(erase-buffer)
(insert "def scaled(value, factor_x, factor_y):\n    return value * factor_\n")
(eglot--signal-textDocument/didChange)
(reported "factor_")
(wait-for "chosen" (lambda () (string-match-p "return value \\* factor_y$" (buffer-string))))

(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(said "shutdown")
;;; smoke.el ends here
