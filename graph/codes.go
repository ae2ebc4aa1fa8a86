package graph

// The codes of diagnostics. Stable: scripts and editors match them. Where the
// fault is one that graph workflows have always named, the code is that name.
const (
	// Shape: a field is missing, unknown, or of the wrong kind.
	codeExpectedMap         = "expected_map"
	codeExpectedList        = "expected_list"
	codeExpectedText        = "expected_text"
	codeExpectedNonempty    = "expected_nonempty_utf8_binary"
	codeExpectedPositive    = "expected_positive_integer"
	codeExpectedNonNegative = "expected_non_negative_integer"
	codeEmpty               = "empty"
	codeUnknownField        = "unknown_field"
	codeConflictingFields   = "conflicting_fields"
	codeUnsupportedVersion  = "unsupported_version"
	codeUnsupportedKind     = "unsupported_kind"
	codeInvalidValue        = "invalid_value"
	codeInvalidRevision     = "expected_nonempty_binary_or_non_negative_integer"

	// Ids and types.
	codeInvalidID       = "invalid_id"
	codeReservedID      = "reserved_id"
	codeDuplicateID     = "duplicate_id"
	codeUnsupportedType = "unsupported_graph_node_type"

	// Fields of nodes.
	codeInvalidAction    = "invalid_action"
	codeInvalidTimeout   = "invalid_timeout"
	codeInvalidDeadline  = "invalid_deadline"
	codeInvalidGrace     = "invalid_cancel_grace"
	codeInvalidExpires   = "invalid_expires"
	codeInvalidWait      = "invalid_wait"
	codeShowTooLarge     = "show_too_large"
	codeInvalidRetry     = "invalid_retry_policy"
	codeRetryOption      = "invalid_retry_option"
	codeRetryAttempts    = "invalid_retry_max_attempts"
	codeRetryBackoff     = "invalid_retry_backoff"
	codeRetryCoefficient = "invalid_retry_coefficient"
	codeInvalidRoute     = "invalid_route"
	codeInvalidPredicate = "invalid_predicate"
	codeInvalidOnError   = "invalid_on_error"
	codeInvalidTarget    = "invalid_target"
	codeDuplicateTarget  = "duplicate_target"
	codeReducerKeys      = "expected_binary_state_keys"
	codeReducerKind      = "unsupported_state_reducer"
	codeInvalidSchema    = "invalid_json_schema"
	codeInvalidMode      = "invalid_mode"
	codeInvalidOverflow  = "invalid_overflow"
	codeQueueTimeout     = "invalid_queue_timeout"

	// Child graphs and maps.
	codeInvalidChild     = "invalid_nested_workflow_node"
	codeContainsItself   = "graph_contains_itself"
	codeUnknownGraph     = "unknown_graph"
	codeChildInput       = "input_schema_validation_failed"
	codeMapItems         = "map_items_invalid"
	codeInvalidItem      = "invalid_map_item"
	codeInvalidTolerance = "invalid_tolerance"

	// Topology.
	codeUnknownEntry  = "unknown_graph_entry"
	codeUnknownTarget = "unknown_graph_target"
	codeUnknownEdge   = "unknown_edge_target"
	codeExplicitEdge  = "every_node_requires_explicit_edge"
	codeInvalidEdge   = "invalid_edge"
	codeDuplicateEdge = "duplicate_edge"

	// Forks.
	codeForkTopology       = "invalid_fork_topology"
	codeJoinType           = "join_must_reference_join_node"
	codeInvalidJoinPolicy  = "invalid_join_policy"
	codeInvalidQuorum      = "invalid_quorum"
	codeInvalidMerge       = "invalid_merge_policy"
	codeSharedBranch       = "shared_fork_branch"
	codeSharedJoin         = "shared_fork_join"
	codeJoinPredecessor    = "join_has_external_predecessors"
	codeConflictingWriters = "conflicting_writers"

	// Text.
	codeSecretLiteral = "secret_literal"

	// Warnings.
	codeUnknownCallback  = "unknown_callback" // an error when a catalogue is loaded
	codeNoDefault        = "no_default"
	codeNoOnExpire       = "no_on_expire"
	codeNoTimeout        = "no_timeout"
	codeTimerFloor       = "timer_floor"
	codeUnreachable      = "unreachable_node"
	codeNoTerminal       = "no_static_terminal_path"
	codeUnboundedCycle   = "cycle_relies_on_global_max_steps"
	codeOrphanJoin       = "orphan_join"
	codePossibleConflict = "possible_conflict"
	codeNoItems          = "no_items"
	codeItemDelta        = "item_delta_ignored"
	codeNestedReducer    = "nested_state_reducer_incompatible"
)

// Code is one code that a [Diagnostic] can carry and what it means, in a line.
type Code struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"`
}

// Codes lists every code the compiler can report, sorted by group: reading the
// text, shape, fields, topology, forks, child graphs and maps, text, and last
// the warnings.
func Codes() []Code {
	var all []Code
	for _, group := range [][]Code{
		errorCodes(readingCodes()), errorCodes(shapeCodes()), errorCodes(fieldCodes()),
		errorCodes(topologyCodes()), errorCodes(forkCodes()), errorCodes(childCodes()), errorCodes(textCodes()), warningCodes(),
	} {
		all = append(all, group...)
	}
	return all
}

func errorCodes(pairs [][2]string) []Code { return listCodes(SeverityError, pairs) }

func listCodes(severity Severity, pairs [][2]string) []Code {
	codes := make([]Code, len(pairs))
	for i, pair := range pairs {
		codes[i] = Code{Code: pair[0], Severity: severity, Meaning: pair[1]}
	}
	return codes
}

func shapeCodes() [][2]string {
	return [][2]string{
		{codeExpectedMap, "An object was needed here."},
		{codeExpectedList, "A list was needed here."},
		{codeExpectedText, "Text was needed here."},
		{codeExpectedNonempty, "An id, name or reason is missing, empty or not text."},
		{codeExpectedPositive, "A whole number of at least 1 was needed here."},
		{codeExpectedNonNegative, "A whole number of at least 0 was needed here."},
		{codeEmpty, "The list has no items and needs at least one."},
		{codeUnknownField, "The document format has no such field here."},
		{codeConflictingFields, "Two fields are given that exclude each other."},
		{codeUnsupportedVersion, "The document's version is not 1."},
		{codeUnsupportedKind, "The document describes something other than a graph."},
		{codeInvalidValue, "A Go value has no JSON form."},
		{codeInvalidRevision, "A revision is text that is not empty, or a whole number of at least 0."},
		{codeInvalidID, "An id has a form that is not allowed."},
		{codeReservedID, "The id belongs to Tidemill."},
		{codeDuplicateID, "Two nodes have the same id, or a fork lists a branch twice."},
		{codeUnsupportedType, "The node type is unknown, or this version does not run it."},
	}
}

func fieldCodes() [][2]string {
	return [][2]string{
		{codeInvalidAction, "What the node runs is missing or malformed."},
		{codeInvalidTimeout, "A timeout is not a positive duration or none."},
		{codeInvalidDeadline, "A deadline is not a positive duration or none."},
		{codeInvalidGrace, "A cancel grace is not a duration."},
		{codeInvalidExpires, "A pause's expiry is not a positive duration, or it has an edge but no expiry."},
		{codeInvalidWait, "A wait needs either a positive duration or a time."},
		{codeShowTooLarge, "What a pause shows is larger than 2 KB."},
		{codeInvalidRetry, "A retry policy is not an object."},
		{codeRetryOption, "A retry policy has no such field."},
		{codeRetryAttempts, "The number of attempts is not a whole number of at least 1."},
		{codeRetryBackoff, "A backoff is not a duration, or the longest is below the first."},
		{codeRetryCoefficient, "A backoff coefficient is not a number of at least 1."},
		{codeInvalidRoute, "A decision is missing or malformed."},
		{codeInvalidPredicate, "A loop's condition is missing or malformed."},
		{codeInvalidOnError, "The way out of a failure is malformed."},
		{codeInvalidTarget, "A target is missing or is not a node id."},
		{codeDuplicateTarget, "A target is listed twice."},
		{codeReducerKeys, "A state reducer's key is empty."},
		{codeReducerKind, "There is no such state reducer."},
		{codeInvalidSchema, "A JSON Schema is malformed, or uses a keyword that is not supported."},
		{codeInvalidMode, "The mode of an action is unknown, or the action may not run in it."},
		{codeInvalidOverflow, "What becomes of a node without a permit is neither queue nor reject."},
		{codeQueueTimeout, "The time to wait for a permit is not a positive duration or none."},
	}
}

func topologyCodes() [][2]string {
	return [][2]string{
		{codeUnknownEntry, "The entry is missing or is not a node."},
		{codeUnknownTarget, "A branch, loop or pause leads to a node that does not exist."},
		{codeUnknownEdge, "An edge leads to a node that does not exist."},
		{codeExplicitEdge, "A node that leaves by an edge has none, or an edge is given for a node that has no use for one."},
		{codeInvalidEdge, "An edge is malformed."},
		{codeDuplicateEdge, "The same edge is given twice."},
	}
}

func forkCodes() [][2]string {
	return [][2]string{
		{codeForkTopology, "A fork, its branches and its join do not hang together, or an edge leads into or past a branch."},
		{codeJoinType, "A fork's join is not a node of type join."},
		{codeInvalidJoinPolicy, "There is no such join policy."},
		{codeInvalidQuorum, "A quorum is not a whole number from 1 to the number of branches."},
		{codeInvalidMerge, "There is no such merge policy."},
		{codeSharedBranch, "Two forks have the same branch."},
		{codeSharedJoin, "Two forks end at the same join."},
		{codeJoinPredecessor, "An edge leads to a fork's join from elsewhere than its branches."},
		{codeConflictingWriters, "Two branches of a fork set one state key to different values."},
	}
}

func childCodes() [][2]string {
	return [][2]string{
		{codeInvalidChild, "Which graph a node runs is missing or malformed."},
		{codeContainsItself, "A graph runs itself, directly or through other graphs."},
		{codeUnknownGraph, "There is no graph of that name."},
		{codeChildInput, "The literal input of a node does not fit the input_schema of the graph it runs."},
		{codeMapItems, "The items of a map are missing, are no list, or are too many."},
		{codeInvalidItem, "The item of a map is missing, is of a type that cannot be one, or has a field that an item cannot have."},
		{codeInvalidTolerance, "How many items of a map may fail is malformed or out of range."},
	}
}

func warningCodes() []Code {
	return listCodes(SeverityWarning, [][2]string{
		{codeUnknownCallback, "The callback is not registered here. A worker refuses to load the graph without it."},
		{codeNoDefault, "No default: the run fails with route_failed when no case holds."},
		{codeNoOnExpire, "The pause expires without an edge for it: the run then fails with pause_expired."},
		{codeNoTimeout, "No timeout: an action that hangs is never noticed."},
		{codeTimerFloor, "The time is below a second, which is the least that a server timer waits."},
		{codeUnreachable, "No way leads from the entry to the node."},
		{codeNoTerminal, "No way leads from the entry to the end."},
		{codeUnboundedCycle, "Only max_steps bounds the cycle."},
		{codeOrphanJoin, "The join belongs to no fork."},
		{codePossibleConflict, "Two branches of a fork set one state key, and may set it to different values."},
		{codeNoItems, "The list of a map is empty, so the map does nothing."},
		{codeItemDelta, "The delta of a map's item is not applied."},
		{codeNestedReducer, "A graph and the graph that runs it combine a state key in different ways."},
	})
}
