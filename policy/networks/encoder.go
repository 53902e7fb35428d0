package networks

import (
	"fmt"
	"math"

	"github.com/segue-project/segue/policy/safetensors"
)

// Epsilon is added to the variance of a row before it is normalised.
const Epsilon = 1e-5

// encoder is a transformer encoder.
type encoder struct {
	spec      *History
	inputs    Normaliser // empty where rows are read as they are
	embed     linear
	positions []float32 // a row per step; nil without
	layers    []encoderLayer
	final     layerNorm // unless rows are normalised after each part
}

type encoderLayer struct {
	norm1, norm2    layerNorm
	project         linear // to queries, keys and values
	join            linear // from the heads
	feedIn, feedOut linear
}

type layerNorm struct{ weight, bias []float32 }

// encoding is the memory of an encoder.
type encoding struct {
	rows      []float32 // steps x width
	x         []float32 // steps x model
	projected []float32 // steps x 3 model
	attended  []float32 // steps x model
	norm, sum []float32 // model
	feed      []float32
	scores    []float32 // steps
}

func newEncoder(h *History, tensors map[string]safetensors.Tensor) *encoder {
	e := &encoder{
		spec:      h,
		inputs:    Normaliser{tensors[historyMeanName].Data, tensors[historyScaleName].Data},
		embed:     affineOf(tensors, "embed"),
		positions: tensors["positions"].Data,
	}
	if h.Norm == Before {
		e.final = normOf(tensors, "final")
	}
	if h.Positions == Sinusoidal {
		e.positions = Sinusoids(h.Steps, h.Model)
	}
	for i := range h.Layers {
		layer := func(name string) string { return fmt.Sprintf("layers.%d.%s", i, name) }
		e.layers = append(e.layers, encoderLayer{
			norm1:   normOf(tensors, layer("norm1")),
			norm2:   normOf(tensors, layer("norm2")),
			project: affineOf(tensors, layer("attention.in")),
			join:    affineOf(tensors, layer("attention.out")),
			feedIn:  affineOf(tensors, layer("feed.in")),
			feedOut: affineOf(tensors, layer("feed.out")),
		})
	}
	return e
}

func normOf(tensors map[string]safetensors.Tensor, name string) layerNorm {
	return layerNorm{tensors[name+".weight"].Data, tensors[name+".bias"].Data}
}

func newEncoding(h *History) *encoding {
	return &encoding{
		rows:      make([]float32, h.Steps*h.Width),
		x:         make([]float32, h.Steps*h.Model),
		projected: make([]float32, h.Steps*3*h.Model),
		attended:  make([]float32, h.Steps*h.Model),
		norm:      make([]float32, h.Model),
		sum:       make([]float32, h.Model),
		feed:      make([]float32, h.FeedForward),
		scores:    make([]float32, h.Steps),
	}
}

// encode puts the pooled encoding of a raw history into out.
func (e *encoder) encode(s *encoding, history, out []float32) {
	h := e.spec
	rows := history[:h.Steps*h.Width]
	if len(e.inputs.Mean) > 0 {
		e.inputs.Apply(s.rows, rows)
		rows = s.rows
	}
	for t := range h.Steps {
		x := s.x[t*h.Model:][:h.Model]
		e.embed.apply(x, rows[t*h.Width:][:h.Width])
		if e.positions != nil {
			add(x, e.positions[t*h.Model:])
		}
	}
	for i := range e.layers {
		e.layers[i].attend(s, h)
		e.layers[i].feed(s, h)
	}
	e.pool(s, out)
}

// attend adds to every row what attention gathers for it from all rows.
func (l *encoderLayer) attend(s *encoding, h *History) {
	for t := range h.Steps {
		l.project.apply(s.projected[t*3*h.Model:][:3*h.Model], l.norm1.ahead(s, h, t))
	}
	for head := range h.Heads {
		l.attendHead(s, h, head*(h.Model/h.Heads))
	}
	for t := range h.Steps {
		l.join.apply(s.sum, s.attended[t*h.Model:][:h.Model])
		l.norm1.join(s, h, t)
	}
}

// attendHead is scaled dot-product attention of the head whose columns begin at
// from (Vaswani et al., NeurIPS 2017, equation 1).
func (l *encoderLayer) attendHead(s *encoding, h *History, from int) {
	width := h.Model / h.Heads
	stride := 3 * h.Model
	scale := float32(1 / math.Sqrt(float64(width)))
	for t := range h.Steps {
		query := s.projected[t*stride+from:][:width]
		for u := range s.scores {
			s.scores[u] = scale * dot(query, s.projected[u*stride+h.Model+from:][:width])
		}
		softmax(s.scores)
		out := s.attended[t*h.Model+from:][:width]
		clear(out)
		for u, weight := range s.scores {
			if weight == 0 {
				continue
			}
			value := s.projected[u*stride+2*h.Model+from:][:len(out)]
			for i := range out {
				out[i] += weight * value[i]
			}
		}
	}
}

// feed adds to every row a map of itself through a wider hidden layer.
func (l *encoderLayer) feed(s *encoding, h *History) {
	for t := range h.Steps {
		l.feedIn.apply(s.feed, l.norm2.ahead(s, h, t))
		rectify(s.feed)
		l.feedOut.apply(s.sum, s.feed)
		l.norm2.join(s, h, t)
	}
}

// ahead returns row t as a part of a layer sees it: normalised, unless that
// comes after.
func (n layerNorm) ahead(s *encoding, h *History, t int) []float32 {
	x := s.x[t*h.Model:][:h.Model]
	if h.Norm == After {
		return x
	}
	n.apply(s.norm, x)
	return s.norm
}

// join adds to row t what a part of a layer made of it.
func (n layerNorm) join(s *encoding, h *History, t int) {
	x := s.x[t*h.Model:][:h.Model]
	add(x, s.sum)
	if h.Norm == After {
		n.apply(x, x)
	}
}

// pool puts into out what becomes of the encoded rows.
func (e *encoder) pool(s *encoding, out []float32) {
	h := e.spec
	switch h.Pool {
	case Last:
		copy(out, e.encoded(s, h.Steps-1))
		return
	case All:
		for t := range h.Steps {
			copy(out[t*h.Model:], e.encoded(s, t))
		}
		return
	}
	clear(out)
	for t := range h.Steps {
		add(out, e.encoded(s, t))
	}
	for i := range out {
		out[i] /= float32(h.Steps)
	}
}

// encoded returns row t after all layers.
func (e *encoder) encoded(s *encoding, t int) []float32 {
	x := s.x[t*e.spec.Model:][:e.spec.Model]
	if e.spec.Norm == After {
		return x
	}
	e.final.apply(s.norm, x)
	return s.norm
}

// apply puts the normalised row x into y, which may be x.
func (n layerNorm) apply(y, x []float32) {
	var mean, square float32
	for _, v := range x {
		mean += v
	}
	mean /= float32(len(x))
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	inverse := float32(1 / math.Sqrt(float64(square/float32(len(x)))+Epsilon))
	for i, v := range x {
		y[i] = (v-mean)*inverse*n.weight[i] + n.bias[i]
	}
}

// add adds b to a, which is not longer.
func add(a, b []float32) {
	b = b[:len(a)]
	for i := range a {
		a[i] += b[i]
	}
}

// Sinusoids returns the sinusoidal encoding of positions, a row per step:
// sin(t / 10000^(2i/model)) in the even columns and cos in the odd ones
// (Vaswani et al., NeurIPS 2017, section 3.5).
func Sinusoids(steps, model int) []float32 {
	rows := make([]float32, 0, steps*model)
	for t := range steps {
		for c := range model {
			angle := float64(t) / math.Pow(10000, float64(c-c%2)/float64(model))
			if c%2 == 0 {
				rows = append(rows, float32(math.Sin(angle)))
			} else {
				rows = append(rows, float32(math.Cos(angle)))
			}
		}
	}
	return rows
}
