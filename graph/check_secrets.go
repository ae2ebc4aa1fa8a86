package graph

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidemill/tidemill/graph/expr"
	"github.com/tidemill/tidemill/graph/source"
)

const secretFix = "write ${ secret('NAME') } in args, and let the worker give the secret"

// secrets reports literal text that looks like a secret in the values of a
// node. Whatever a document holds ends in history, and in whatever keeps the
// document.
func (c *checker) secrets(from *origin) {
	for _, name := range []string{"args", "input", "items", "key", "output", "delta", "summary", "show"} {
		if f, ok := from.member(name); ok {
			c.secretsIn(f, false)
		}
	}
	if way, ok := from.member("on_error"); ok && way.kind() == source.Object {
		for _, name := range []string{"output", "delta"} {
			if f, ok := way.member(name); ok {
				c.secretsIn(f, false)
			}
		}
	}
}

// secretsIn walks a value. Named is set below a key that names a secret.
func (c *checker) secretsIn(f field, named bool) {
	switch f.kind() {
	case source.String:
		switch {
		case named && c.givesSecret(f.node.Text):
			c.fail(f.at, codeSecretLiteral, secretFix, "literal text under a key that names a secret")
		case secretInURL(f.node.Text):
			c.fail(f.at, codeSecretLiteral, "keep credentials out of the URL", "the URL holds a secret")
		}
	case source.Array:
		for i, item := range f.node.Items {
			c.secretsIn(field{f.at.item(i), item}, named)
		}
	case source.Object:
		pair := namesSecret(f.node)
		for _, m := range f.node.Members {
			c.secretsIn(field{f.at.key(m.Key), m.Value}, secretKey(m.Key) || pair && m.Key == "value")
		}
	case source.Null, source.Bool, source.Number:
	}
}

// namesSecret reports whether an object is a pair such as
// {name: Authorization, value: …}.
func namesSecret(node *source.Node) bool {
	for _, key := range []string{"name", "key"} {
		if name := node.Get(key); name != nil && name.Kind == source.String && secretKey(name.Text) {
			return true
		}
	}
	return false
}

// givesSecret reports whether text spells a secret out: it is literal, or it is
// literal in part and takes no secret from the worker. An expression that reads
// something is no literal, whatever its key.
func (c *checker) givesSecret(text string) bool {
	if !strings.Contains(text, "${") {
		return text != ""
	}
	const any = ownNames | expr.Result | expr.Failure | expr.Item | expr.Secret
	raw, err := json.Marshal(text)
	if err != nil || !c.ready() {
		return false
	}
	template, found := c.language.CompileTemplate(raw, any)
	if len(found) > 0 || len(template.Secrets()) > 0 {
		return false
	}
	return !c.wholeExpression(text) || !template.Uses(any)
}

// wholeExpression reports whether text is one ${…} and nothing else.
func (c *checker) wholeExpression(text string) bool {
	inner, ok := strings.CutPrefix(text, "${")
	if !ok {
		return false
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok {
		return false
	}
	_, err := c.language.Compile(inner, ownNames|expr.Result|expr.Failure|expr.Item|expr.Secret)
	return err == nil
}

// secretInURL reports whether text is a URL with a password, or with a
// parameter that names a secret.
func secretInURL(text string) bool {
	if !strings.Contains(text, "://") || strings.Contains(text, "${") {
		return false
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if _, has := u.User.Password(); has {
		return true
	}
	return secretParameter(u.RawQuery) || secretParameter(u.Fragment)
}

func secretParameter(query string) bool {
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, content, _ := strings.Cut(pair, "=")
		if content != "" && secretKey(name) {
			return true
		}
	}
	return false
}
