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
    "|오류|치명적 오류|심각한 오류|에러|fout|fatale fout|interne compilerfout|fel|ödesdigert fel|internt kompilatorfel"
    "|fejl|fatal fejl|intern oversætterfejl|feil|virhe|vakava virhe|kääntäjän sisäinen virhe|chyba|závažná chyba|hiba"
    "|σφάλμα|μοιραίο σφάλμα|εσωτερικό σφάλμα μεταγλωττιστή|eroare|lỗi|lỗi nghiêm trọng|lỗi biên dịch nội bộ"
    "|greška|fatalna greška|interna greška kompajlera|грешка|кобна грешка|унутрашња грешка компилатора"
    "|критична помилка|внутрішня помилка компілятора|önemli hata|derleyici iç hatası|internal kompiler error"
    "|コンパイラ内部エラー|編譯器內部錯誤|error irrecuperable|errore irreversibile|erreur irrécupérable"
    # what gcc has not got
    "|sorry, unimplemented|nicht implementiert|désolé, pas implémenté|lo sentimos, sin implementar|残念ですが未実装です"
    "|对不起，尚未实现|對不起，尚未實作|пока не реализовано|вибачте, не реалізовано|ledsen, inte implementerat"
    "|desværre, ikke implementeret|nije implementirano|извините, није имплементирано|özür, daha gerçeklenmedi"
    "|συγγνώμη, δεν έχει υλοποιηθεί|maaf, tidak terimplementasi|tiếc là chưa thực hiện"
)
_WARNINGS = (
    "warning|warn|Warnung|attention|avertissement|aviso|advertencia|attenzione|avviso|警告|предупреждение|попередження"
    "|ostrzeżenie|uyarı|경고|waarschuwing|let op|varning|advarsel|varoitus|varování|figyelmeztetés|προειδοποίηση"
    "|avertisment|avertizare|avís|cảnh báo|upozorenje|упозорење|peringatan|uyari"
)
_NOTES = (
    "note|notice|info|information|Anmerkung|nota|備考|注意|ノート|注|附注|附註|замечание|примечание|примітка|uwaga|bilgi"
    "|알림|참고|opmerking|noot|anmärkning|bemærkning|huomautus|huom|poznámka|megjegyzés|σημείωση|notă|ghi chú"
    "|anm|bemærk|napomena|напомена|зауваження|catatan"
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
