package graph

// The patterns of lengths of time. They are as simple as they can be without
// refusing what [ParseDuration] takes, for an editor shows them to whoever
// wrote something else. How long a length may be is left to the compiler.
const (
	nonePattern   = `^none$`
	lengthPattern = `^([-+]?[0-9._]+d)?([-+]?(0|([0-9.]+(ns|us|µs|μs|ms|s|m|h))+))?$`
	// A minus stands at most before what may be rounded to nothing.
	positivePattern = `^([^-]*|-[0.].*)[1-9]`
	anyPattern      = `^([^-]|-[0.])`
	// Lengths that are surely too long for a local action.
	longPattern = `^none$|^([2-9]|[1-9][0-9]+)s$|^[1-9][0-9]*[mhd]$`
	// A time without an expression begins like this.
	timePattern = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{1,2}:`
)

// timeShapes are the schemas of times and lengths of time.
func timeShapes() object {
	return object{
		"length":         lengthShape(lengthPattern, positivePattern),
		"limit":          lengthShape(nonePattern+"|"+lengthPattern, nonePattern+"|"+positivePattern),
		"length_or_zero": lengthShape(nonePattern+"|"+lengthPattern, anyPattern).with(zero()),
		"time":           nonempty().with(object{"pattern": expressionPattern + "|" + timePattern}).hint(`Write a time such as "2030-01-31T09:00:00Z", or one ${…} that gives it.`),
	}
}

// lengthShape is the schema of lengths that match both patterns. One that is
// malformed is not blamed for its size too.
func lengthShape(form, size string) object {
	well := object{"pattern": form}.hint("Write a length and a unit, such as 30s, 5m or 7d.")
	return object{
		"type": "string", "if": object{"pattern": form}, "then": object{"pattern": size}.hint("Write a length that is allowed here, such as 30s."),
		"examples": []string{"30s", "7d"},
	}.with(well)
}

// zero lets a length be 0 without a unit.
func zero() object {
	return object{"type": []string{"string", "integer"}, "minimum": 0, "maximum": 0}
}
