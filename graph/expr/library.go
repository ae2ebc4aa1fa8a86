package expr

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/functions"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/ext"
)

// Limits of one expression. A cost unit is about one visited value, or ten
// characters of text.
const (
	costLimit     = 1_000_000
	maxDepth      = 250
	stringVersion = 5 // of CEL's string functions; a new one may change results
	secretsName   = "@secrets"

	// Names that no expression can spell, for what the compiler puts in.
	equalName    = "@equal"
	notEqualName = "@not_equal"
	sortedName   = "@sorted"
)

// library is the language: CEL's standard library without the operators whose
// rules for numbers differ from ours, and our own in their place.
func library() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: excluded()})),
		cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(stringVersion)),
		cel.CustomTypeAdapter(adapter{}),
		cel.DefaultUTCTimeZone(true),
		cel.Variable(secretsName, cel.DynType),
		cel.Function(operators.Negate, cel.Overload("negate_json", []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(negate))),
		cel.Function(sortedName, cel.Overload("sorted_map", []*cel.Type{cel.DynType}, cel.DynType, cel.UnaryBinding(sorted))),
		cel.Function(operators.Conditional, cel.Overload(overloads.Conditional,
			[]*cel.Type{cel.BoolType, cel.DynType, cel.DynType}, cel.DynType, cel.OverloadIsNonStrict(), cel.FunctionBinding(planned))),
		cel.Function(overloads.TypeConvertString, cel.Overload("number_to_text",
			[]*cel.Type{cel.DoubleType}, cel.StringType, cel.UnaryBinding(numberText))),
	}
	for _, sn := range scopeNames() {
		options = append(options, cel.Variable(sn.name, cel.DynType))
	}
	for _, f := range facts() {
		options = append(options, cel.Variable(factPrefix+f.name, cel.StringType))
	}
	for _, op := range binaries() {
		options = append(options, cel.Function(op.name, cel.Overload(op.overload,
			[]*cel.Type{cel.DynType, cel.DynType}, op.result, cel.BinaryBinding(op.apply))))
	}
	return options
}

type binary struct {
	name, overload string
	result         *cel.Type
	apply          functions.BinaryOp
}

func binaries() []binary {
	return []binary{
		{operators.Add, "add_json", cel.DynType, add},
		{operators.Subtract, "subtract_json", cel.DynType, subtract},
		{operators.Multiply, "multiply_json", cel.DynType, multiply},
		{operators.Divide, "divide_json", cel.DynType, divide},
		{operators.Modulo, "modulo_json", cel.DynType, modulo},
		{operators.Less, "less_json", cel.BoolType, ordering("<", func(s int) bool { return s < 0 })},
		{operators.LessEquals, "less_equals_json", cel.BoolType, ordering("<=", func(s int) bool { return s <= 0 })},
		{operators.Greater, "greater_json", cel.BoolType, ordering(">", func(s int) bool { return s > 0 })},
		{operators.GreaterEquals, "greater_equals_json", cel.BoolType, ordering(">=", func(s int) bool { return s >= 0 })},
		{operators.In, "in_json", cel.BoolType, contains},
		{equalName, "equal_json", cel.BoolType, equals},
		{notEqualName, "not_equal_json", cel.BoolType, differs},
	}
}

// excluded lists what the standard library must not bring: the operators that
// are replaced, and the time functions that read the machine's time zones.
func excluded() []*env.Function {
	out := []*env.Function{
		{Name: operators.Equals},
		{Name: operators.NotEquals},
		{Name: operators.Negate},
		{Name: operators.Conditional},
		{Name: operators.OldIn},
		{Name: overloads.DeprecatedIn},
		{Name: overloads.TypeConvertString, Overloads: []*env.Overload{{ID: overloads.DoubleToString}}},
	}
	for _, op := range binaries() {
		out = append(out, &env.Function{Name: op.name})
	}
	for _, zoned := range [][2]string{
		{overloads.TimeGetFullYear, overloads.TimestampToYearWithTz},
		{overloads.TimeGetMonth, overloads.TimestampToMonthWithTz},
		{overloads.TimeGetDayOfYear, overloads.TimestampToDayOfYearWithTz},
		{overloads.TimeGetDayOfMonth, overloads.TimestampToDayOfMonthZeroBasedWithTz},
		{overloads.TimeGetDate, overloads.TimestampToDayOfMonthOneBasedWithTz},
		{overloads.TimeGetDayOfWeek, overloads.TimestampToDayOfWeekWithTz},
		{overloads.TimeGetHours, overloads.TimestampToHoursWithTz},
		{overloads.TimeGetMinutes, overloads.TimestampToMinutesWithTz},
		{overloads.TimeGetSeconds, overloads.TimestampToSecondsWithTz},
		{overloads.TimeGetMilliseconds, overloads.TimestampToMillisecondsWithTz},
	} {
		out = append(out, &env.Function{Name: zoned[0], Overloads: []*env.Overload{{ID: zoned[1]}}})
	}
	return out
}

// planned stands for an operator that CEL evaluates by itself.
func planned(...ref.Val) ref.Val { return types.NoSuchOverloadErr() }

// numberText prints a double as JSON does.
func numberText(v ref.Val) ref.Val {
	text, err := encode(v)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.String(text)
}

// functionNames are the functions that an expression may call, for messages.
func functionNames(all map[string]*decls.FunctionDecl) []string {
	var names []string
	for name := range all {
		if name[0] != '@' && name[0] != '_' && name[0] != '!' && name[0] != '-' {
			names = append(names, name)
		}
	}
	return names
}

// macroNames are the macros that walk a list, a map or an optional.
func macroNames() []string {
	return []string{"all", "exists", "exists_one", "filter", "map", "optFlatMap", "optMap"}
}
