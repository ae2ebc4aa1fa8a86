package layered

// rounds is how often the layers are placed, down and up in turn.
const rounds = 16

// settle finds the line of each vertex, so that arrows are short and the bends
// of a long one straight.
func (s *sheet) settle() {
	for _, layer := range s.layers {
		for i := 1; i < len(layer); i++ {
			s.vertices[layer[i]].x = s.vertices[layer[i-1]].x + s.apart(layer[i-1], layer[i])
		}
	}
	for i := range rounds {
		for j := range s.layers {
			if i%2 == 0 {
				s.pull(s.layers[j], true, i >= rounds-2)
			} else {
				s.pull(s.layers[len(s.layers)-1-j], false, i >= rounds-2)
			}
		}
	}
}

// apart is the least distance between the lines of two vertices side by side.
func (s *sheet) apart(a, b int) float64 {
	gap := between
	if s.vertices[a].bend && s.vertices[b].bend && s.vertices[a].right+s.vertices[b].left == 0 {
		gap = beside
	}
	return float64(s.vertices[a].right + gap + s.vertices[b].left)
}

// block is a run of vertices that stand as close as they may.
type block struct {
	at, weight float64 // of the first vertex's line
	first      int     // place in the layer
}

// pull moves the vertices of a layer to the mean of their neighbours above or
// below, or of both. Those that would come too close move together, to where
// they are nearest to their wishes by the sum of squares.
func (s *sheet) pull(layer []int, above, both bool) {
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, v := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + s.apart(layer[i-1], v)
		}
		wish, weight := s.wish(v, above, both)
		blocks = append(blocks, block{at: wish - offsets[i], weight: weight, first: i})
		for n := len(blocks); n > 1 && blocks[n-2].at > blocks[n-1].at; n-- {
			a, b := blocks[n-2], blocks[n-1]
			a.at = (float64(a.at*a.weight) + float64(b.at*b.weight)) / (a.weight + b.weight)
			a.weight += b.weight
			blocks = append(blocks[:n-2], a)
		}
	}
	for n, b := range blocks {
		end := len(layer)
		if n+1 < len(blocks) {
			end = blocks[n+1].first
		}
		for i := b.first; i < end; i++ {
			s.vertices[layer[i]].x = b.at + offsets[i]
		}
	}
}

// wish is where a vertex would like to be, and how much.
func (s *sheet) wish(v int, above, both bool) (at, weight float64) {
	sum := 0.0
	add := func(neighbours []int) {
		for _, n := range neighbours {
			w := s.pullOf(v, n)
			sum += float64(w * s.vertices[n].x)
			weight += w
		}
	}
	if above || both {
		add(s.vertices[v].up)
	}
	if !above || both {
		add(s.vertices[v].down)
	}
	if weight == 0 {
		return s.vertices[v].x, 0.1
	}
	return sum / weight, weight
}

// pullOf is how strongly two neighbours pull at each other: a crooked long arrow
// is uglier than a box out of line.
func (s *sheet) pullOf(a, b int) float64 {
	switch {
	case s.vertices[a].bend && s.vertices[b].bend:
		return 8
	case s.vertices[a].bend || s.vertices[b].bend:
		return 2
	}
	return 1
}
