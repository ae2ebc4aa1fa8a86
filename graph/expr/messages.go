package expr

import (
	"strings"
	"unicode/utf8"

	"cel.dev/cel-go/common"
)

// celErrors translates what CEL says about a text.
func celErrors(text string, found []*common.Error) Errors {
	errs := make(Errors, 0, len(found))
	for _, e := range found {
		at := offset(text, e.Location.Line(), e.Location.Column())
		message := plain(e.Message)
		errs = append(errs, Error{Code: InvalidExpression, Offset: at, Message: message, Fix: hint(text, at, message)})
	}
	return inOrder(errs)
}

// offset turns a line (from 1) and a column (from 0) into characters from the
// start of the text.
func offset(text string, line, column int) int {
	at := 0
	for i, l := range strings.SplitAfter(text, "\n") {
		if i+1 >= line {
			break
		}
		at += utf8.RuneCountInString(l)
	}
	return min(at+max(column, 0), utf8.RuneCountInString(text))
}

// plain takes the parser's jargon out of a message: the names of operators and
// those that the compiler put in.
func plain(message string) string {
	message = strings.TrimPrefix(message, "Syntax error: ")
	if strings.HasPrefix(message, "mismatched input '<EOF>'") {
		return "the text ends where an expression is expected"
	}
	return strings.NewReplacer(
		" (in container '')", "", "'_?_:_'", "'? :'", "'_[_]'", "'[]'", "'_", "'", "_'", "'",
		equalName, "==", notEqualName, "!=",
	).Replace(message)
}

// hint says how to mend the mistakes that are made most often.
func hint(text string, at int, message string) string {
	rest := string([]rune(text)[at:])
	for _, sign := range [][2]string{{"=", "=="}, {"and ", "&&"}, {"or ", "||"}, {"not ", "!"}, {"&", "&&"}, {"|", "||"}} {
		if strings.HasPrefix(rest, sign[0]) && !strings.HasPrefix(rest, sign[1]) {
			return "write " + sign[1]
		}
	}
	switch {
	case strings.Contains(message, "no matching overload"):
		return "convert one of the values, for example with string(x), int(x) or size(x)"
	case strings.HasPrefix(message, "expected type 'bool'"):
		return "compare the value with something, for example x != \"\""
	case strings.HasPrefix(message, "invalid int literal"):
		return "integers in an expression have at most 64 bits; a longer one can come from the state or the input"
	case strings.HasPrefix(message, "reserved identifier"):
		return "choose another name"
	case strings.HasPrefix(message, "unterminated"):
		return "close the quotes"
	}
	return ""
}
