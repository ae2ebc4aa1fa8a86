package permits

import (
	"github.com/tidemill/tidemill/admission"
	"github.com/tidemill/tidemill/graph"
)

// PartitionOther is the partition of every run whose own is not among the known.
const PartitionOther = "other"

// Rules say what attempts need, as data: whose an attempt is, and then the first
// rule that holds. An attempt for which none holds needs its agent, if it has one,
// and nothing else. [Compile] makes a [Classifier] of them.
type Rules struct {
	Partition Partition
	Rules     []Rule
}

// Partition makes of what is known about a run one of a few names. Whatever else
// comes out is [PartitionOther], so that nobody can make up a partition.
type Partition struct {
	From  string   // text with ${…} over run.id, run.lane and the facts. Zero means that all are PartitionOther.
	Known []string // the names there are
}

// Rule says what the attempts need for which it holds. Texts may hold ${…} over the
// facts: graph, node, type, agent, tool, action, trigger and partition.
type Rule struct {
	When     string            // a condition over the facts. Zero means always.
	Domain   string            // Zero means DefaultDomain.
	Agent    string            // Zero means the agent of a node of type agent.
	Keys     []admission.Units // by text
	Rates    []admission.Units // by text; the units are what the attempt costs
	Flow     string            // Zero means the partition.
	Priority *int              // 0 to 100. Nil means 50.
}

// Compile makes a classifier of rules. The error is a [RuleErrors] with everything
// that is wrong with them.
func Compile(r Rules) (Classifier, error) {
	c, err := newRuleCompiler()
	if err != nil {
		return nil, err
	}
	partition := c.partition(r.Partition)
	rules := c.rules(r.Rules)
	if err := c.err(); err != nil {
		return nil, err
	}
	return partition.before(rules.classify), nil
}

// Partitioned lets a classifier that is code see the partition of each attempt.
// The error is a [RuleErrors].
func Partitioned(p Partition, next Classifier) (Classifier, error) {
	c, err := newRuleCompiler()
	if err != nil {
		return nil, err
	}
	partition := c.partition(p)
	if err := c.err(); err != nil {
		return nil, err
	}
	return partition.before(next), nil
}

// before fills in the partition, and the flow where next gives none.
func (p *partition) before(next Classifier) Classifier {
	return func(f Facts) (Class, error) {
		var err error
		if f.Partition, err = p.of(f); err != nil {
			return Class{}, err
		}
		class, err := next(f)
		if err != nil {
			return Class{}, err
		}
		if class.Flow == "" {
			class.Flow = f.Partition
		}
		return class, nil
	}
}

// classify is the class of the first rule that holds.
func (rules compiledRules) classify(f Facts) (Class, error) {
	var class Class
	vars := f.vars()
	for i := range rules {
		holds, err := rules[i].holds(vars)
		if err == nil && holds {
			class, err = rules[i].class(vars)
		}
		if err != nil {
			return Class{}, unclassified("rules[%d]: %w", i, err)
		}
		if holds {
			break
		}
	}
	if class.Agent == "" && f.Type == string(graph.TypeAgent) {
		class.Agent = f.Agent
	}
	return class, nil
}
