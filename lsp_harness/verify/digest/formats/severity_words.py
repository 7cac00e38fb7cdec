"""Words by which compilers name a severity, in many languages. The word is no part of a message."""

import re
from types import MappingProxyType

from lsp_harness.verify.finding import Severity

_ERRORS = (
    # English first, then the languages of gcc, clang and javac
    "error|fatal error|internal compiler error|fatal|Fehler|schwerwiegender Fehler|interner Compiler-Fehler"
    "|erreur|erreur fatale|erreur interne du compilateur|error fatal|error interno del compilador"
    "|errore|errore fatale|erro|erro fatal|エラー|致命的エラー|致命的なエラー|内部コンパイラエラー"
    "|错误|致命错误|严重错误|编译器内部错误|錯誤|嚴重錯誤|ошибка|фатальная ошибка|критическая ошибка"
    "|неисправимая ошибка"
    "|внутренняя ошибка компилятора|помилка|фатальна помилка|błąd|błąd krytyczny|hata|ölümcül hata"
    "|오류|치명적 오류|에러|fout|fatale fout|fel|ödesdigert fel|fejl|fatal fejl|feil|virhe|chyba|hiba|σφάλμα|eroare|lỗi"
)
_WARNINGS = (
    "warning|warn|Warnung|attention|avertissement|aviso|advertencia|attenzione|avviso|警告|предупреждение|попередження"
    "|ostrzeżenie|uyarı|경고|waarschuwing|let op|varning|advarsel|varoitus|varování|figyelmeztetés|προειδοποίηση"
    "|avertisment|avertizare|avís|cảnh báo"
)
_NOTES = (
    "note|notice|info|information|Anmerkung|nota|備考|注意|ノート|注|附注|附註|замечание|примечание|примітка|uwaga|bilgi"
    "|알림|참고|opmerking|noot|anmärkning|bemærkning|huomautus|huom|poznámka|megjegyzés|σημείωση|notă|ghi chú"
)
_HINTS = "hint|help|Hinweis"
_SEVERITIES: tuple[tuple[str, Severity], ...] = (
    (_ERRORS, "error"),
    (_WARNINGS, "warning"),
    (_NOTES, "information"),
    (_HINTS, "hint"),
)

SEVERITY_BY_WORD: MappingProxyType[str, Severity] = MappingProxyType(
    {word.casefold(): severity for words, severity in _SEVERITIES for word in words.split("|")}
)
"""The severity of each word, in small letters."""
COLON = "[ \t\u00a0\u202f]*[:：][ \t\u00a0\u202f]*"
"""A pattern of the colon after a word: French has a blank before it, Chinese a wide one."""
_BY_LENGTH = sorted(SEVERITY_BY_WORD, key=len, reverse=True)
ANY_WORD = "(?i:" + "|".join(map(re.escape, _BY_LENGTH)) + ")"
"""A pattern of all these words, the longest first."""
ERROR_WORD = "(?i:" + "|".join(re.escape(word) for word in _BY_LENGTH if SEVERITY_BY_WORD[word] == "error") + ")"
"""A pattern of the words for errors."""
