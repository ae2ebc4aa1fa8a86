package admission

// A rate is kept as one time, as GCRA does: the theoretical arrival time (tat)
// of the next unit if units came at exactly the rate. A unit moves it on by one
// step, and units may run ahead of it by the burst.

// step is the time one unit earns, in nanoseconds. It is rounded up, so that
// no window ever holds more than the limit.
func (r Rate) step() int64 {
	if r.Limit == 0 {
		return 0
	}
	return (int64(r.Per) + int64(r.Limit) - 1) / int64(r.Limit)
}

func (r Rate) burst() int { return or(r.Burst, r.Limit) }

// meter is the state of one rate key.
type meter struct {
	rate Rate
	step int64 // of the last rate that was not 0: what tat is counted in
	tat  int64
}

// ready is the first time at which cost units may pass, as things stand now.
func (m *meter) ready(now int64, cost int) int64 {
	return max(m.tat, now) + int64(cost-m.rate.burst())*m.step
}

// charge books units from now on, and gives the time by which tat moved for
// them, which refund takes back.
func (m *meter) charge(now int64, cost int) int64 {
	paid := int64(cost) * m.step
	m.tat = max(m.tat, now) + paid
	return paid
}

func (m *meter) refund(paid int64) { m.tat -= paid }

// change sets another rate. What was used stays used: the same number of units
// is owed under the new rate, but at most its burst.
func (m *meter) change(now int64, rate Rate) {
	m.rate = rate
	step := rate.step()
	if step == 0 {
		return // a pause: what is owed goes on to be earned at the old rate
	}
	if m.tat > now {
		if step != m.step {
			m.tat = now + owed(m.tat-now, m.step)*step
		}
		m.tat = min(m.tat, now+int64(rate.burst())*step)
	}
	m.step = step
}

// owed is a debt in whole units, rounded up, and never more than can be scaled.
func owed(debt, step int64) int64 {
	return min((debt+step-1)/max(step, 1), 2*MaxUnits)
}
