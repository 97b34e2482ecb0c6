"""The arguments of every kernel in C, for the Python side (__init__.py) and for the build (setup.py), which writes the
C side. This file imports nothing from the package, because the build runs it before the package exists.
"""
import re
import zlib

#: Name -> (least number of elements, arguments after the number of threads). From that number of elements of its first
#: array on a kernel is faster than its twin. It is 1 for kernels that round otherwise than NumPy, so that an element
#: does not depend on the number of elements.
#:
#: `n` is a whole number, `.eps` a float, `.eps:f8` a double. `x[n]` is an array of n elements that is read, `>x[n]` one
#: that is written, `?x[n]` one that may be None. `x{t,m,n,ld}` is a matrix of m rows and n columns (n rows and m
#: columns if t) that is read; its rows are contiguous and begin ld elements apart. `x{t,m,n,ld,p,q,i,j}` is an array of
#: p times q such matrices, i and j elements apart. Arrays are float32 unless another type follows.
#:
#: The numbers of `x[n]:i8<m` are places among m others. C gets an array of `place`, which only the functions of
#: common.h can read: they read a number once, and return whether it is below m. `x[n]:int64` are numbers that are no
#: places. `x[625]:twister` has the 624 words of a Mersenne twister and the position of the next one; the least number
#: of a kernel that draws counts the numbers that it draws.
KERNELS = {
    **dict.fromkeys(("words", "double_words"), (1, "n >key[625]:twister >out[n]:u8")),
    "below": (1, "n limit >key[625]:twister >out[n]:?"),
    "bernoulli_each": (1, "n >key[625]:twister p[n] >out[n]"),
    "uniform": (1, "n .low .high >key[625]:twister >out[n]"),
    "uniform53_each": (1, "n .low:f8 .high:f8 >key[625]:twister >out[n]:f8"),
    **{name: (1, f"n low width >key[625]:twister >out[n]{kind}") for name, kind in (
        ("integers", ":i8"), ("integers_in_float", ""), ("integers_in_double", ":f8"), ("long_integers", ":i8"),
        ("long_integers_in_double", ":f8"))},
    "permutation": (1, "n >key[625]:twister >out[n]:i8"),
    **{name + suffix: (1, f"n .a:f8 .b:f8 >key[625]:twister >out[n]{kind}")
       for name in "exponential geometric cauchy".split() for suffix, kind in (("", ""), ("53", ":f8"))},
    "normal": (16, "n .mean .deviation >key[625]:twister >out[n]"),
    "normal53": (16, "n .mean:f8 .deviation:f8 >key[625]:twister >out[n]:f8"),
    **{name: (1, f"n .mean:f8 .deviation:f8 exponents >key[625]:twister >source[3]:f8 >out[n]{kind}")
       for name, kind in (("normals", ""), ("normals53", ":f8"))},
    "poisson": (1, "n >key[625]:twister >source[3]:f8 rate[n]:f8 >out[n]:f8"),
    "standard_gamma": (1, "n single >key[625]:twister >source[3]:f8 shape[n]:f8 >out[n]:f8"),
    "binomial": (1, "n single >key[625]:twister >source[3]:f8 count[n]:f8 prob[n]:f8 >out[n]:f8"),
    **dict.fromkeys(("categories", "race"),
                    (1, "rows width count >key[625]:twister weights[rows*width] >out[rows*count]:i8")),
    "top": (1, "rows width k largest ordered x[rows*width] >out[rows*k]:i8"),
    "box_muller": (16, "blocks .mean .std >u[16*blocks]"),
    "softmax": (1, "rows width safe x[rows*width] >out[rows*width]"),
    "softmax_backward": (1, "rows width g[rows*width] y[rows*width] >out[rows*width]"),
    "log_softmax": (1, "rows width x[rows*width] >out[rows*width]"),
    "log_sums": (1, "rows width x[rows*width] >out[rows]"),
    "log_softmax_backward": (1, "rows width g[rows*width] y[rows*width] >out[rows*width]"),
    "cross_entropy": (1, "rows width .scale x[rows*width] target[rows]:i8<width >out[rows*width] >losses[rows+1]"),
    "cross_entropy_backward": (1, "rows width .scale x[rows*width] target[rows]:i8<width >out[rows*width]"),
    "nll": (1, "outer rows width .divisor:f8 x[outer*rows*width] target[outer*rows]:i8<width >out[outer]"),
    "nll_backward": (1, "rows width .value target[rows]:i8<width >out[rows*width]"),
    "half_gelu": (1, "n tanh half x[n]:u2 >out[n]:u2"),
    "half_softmax": (1, "rows width half x[rows*width]:u2 >out[rows*width]:u2"),
    "ctc": (1, "steps batch classes width most longest blank log_p[steps*batch*classes] labels[batch*width]:i8<classes "
            "frames[batch]:i8<most lengths[batch]:i8<longest >room[batch*2*(2*width+1)] "
            ">alpha[batch*steps*(2*width+3)] >out[batch]"),
    "ctc_backward": (1, "steps batch classes width most longest blank log_p[steps*batch*classes] g[batch] "
                     "losses[batch] alpha[batch*steps*(2*width+3)] labels[batch*width]:i8<classes "
                     "frames[batch]:i8<most lengths[batch]:i8<longest >room[batch*4*(2*width+3)] "
                     ">out[steps*batch*classes]"),
    "attend": (1, "outer inner queries keys size wide causal joined grain .scale q_outer q_inner ldq k_outer "
               "k_inner ldk v_outer v_inner ldv m_outer m_inner ldm m_size "
               "q{0,queries,size,ldq,outer,inner,q_outer,q_inner} k{0,keys,size,ldk,outer,inner,k_outer,k_inner} "
               "v{0,keys,wide,ldv,outer,inner,v_outer,v_inner} ?mask[m_size] >out[outer*inner*queries*wide]"),
    "attend_backward": (1, "outer inner queries keys size wide causal grain .scale q_outer q_inner ldq k_outer k_inner "
                        "ldk v_outer v_inner ldv g_outer g_inner ldg m_outer m_inner ldm m_size "
                        "q{0,queries,size,ldq,outer,inner,q_outer,q_inner} "
                        "k{0,keys,size,ldk,outer,inner,k_outer,k_inner} "
                        "v{0,keys,wide,ldv,outer,inner,v_outer,v_inner} "
                        "g{0,queries,wide,ldg,outer,inner,g_outer,g_inner} ?mask[m_size] "
                        ">of_query[outer*inner*queries*size] >of_key[outer*inner*keys*size] "
                        ">of_value[outer*inner*keys*wide]"),
    "attention_weights": (1, "rows keys queries causal divided .scale >scores[rows*keys] >total[rows]"),
    "layer_norm": (1, "rows width .eps x[rows*width] ?weight[width] ?bias[width] >out[rows*width] >mean[rows] "
                   ">rate[rows]"),
    "rms_norm": (1, "rows width .eps x[rows*width] ?weight[width] >out[rows*width] >rate[rows]"),
    "layer_norm_backward": (1, "rows width grain pieces g[rows*width] x[rows*width] ?weight[width] mean[rows] "
                            "rate[rows] >g_input[rows*width] ?>sums[pieces*2*width]"),
    "batch_norm": (1, "images channels size .eps x[images*channels*size] ?weight[channels] ?bias[channels] "
                   ">out[images*channels*size] >mean[channels] >variance[channels] >rate[channels]"),
    "batch_norm_backward": (1, "images channels size g[images*channels*size] x[images*channels*size] "
                            "?weight[channels] mean[channels] rate[channels] >out[images*channels*size] "
                            ">total[channels] >dot[channels]"),
    "scale_shift": (1, "images channels size x[images*channels*size] ?weight[channels] ?bias[channels] "
                    ">out[images*channels*size]"),
    "batch_norm_by": (1, "images channels size .eps .low .high x[images*channels*size] mean[channels] "
                      "variance[channels] ?weight[channels] ?bias[channels] >rate[channels] "
                      ">out[images*channels*size]"),
    **dict.fromkeys(("sigmoid", "silu"), (1, "n x[n] >out[n]")),
    "relu": (2048, "n x[n] >out[n]"),
    "glu": (1, "outer n x[2*outer*n] >out[outer*n]"),
    "glu_backward": (1, "outer n g[outer*n] x[2*outer*n] >out[2*outer*n]"),
    **dict.fromkeys(("gelu", "gelu_tanh"), (1, "n x[n] ?>kept[n] >out[n]")),
    **dict.fromkeys(("gelu_backward", "gelu_tanh_backward"), (1, "n g[n] x[n] share[n] >out[n]")),
    "silu_backward": (1, "n g[n] x[n] >out[n]"),
    **dict.fromkeys("sigmoid_backward tanh_backward relu_backward".split(), (2048, "n g[n] x[n] >out[n]")),
    **dict.fromkeys("add_each sub_each mul_each div_each".split(), (1, "n period x[n] y[period] >out[n]")),
    **{f"{name}_lines": (1, "rows width apart_x apart_y x{0,rows,width,apart_x} y{0,rows,width,apart_y} "
                        ">out[rows*width]") for name in ("add", "sub", "mul", "div")},
    **{f"{name}_down": (1, "rows width lines x[lines*width] y[rows] >out[rows*width]")
       for name in ("add", "sub", "mul", "div")},
    "copy": (1, "turned m n distance outer inner outer_step inner_step before after "
             "x{turned,m,n,distance,outer,inner,outer_step,inner_step} >out[outer*inner*(before+m*n+after)]"),
    "copy_bytes": (1 << 13, "n x[n]:? >out[n]:?"),
    "choose": (512, "n .p .q mask[n]:? ?x[n] ?y[n] >out[n]"),
    "masked_fill": (2048, "n period .value x[n] mask[period]:? >out[n]"),
    "lstm_step": (1, "batch hidden >a[4*batch*hidden] before[batch*hidden] >cells[batch*hidden] "
                  ">squashed[batch*hidden] >out[batch*hidden]"),
    "lstm_step_backward": (1, "batch hidden a[4*batch*hidden] before[batch*hidden] squashed[batch*hidden] "
                           "dh[batch*hidden] >dc[batch*hidden] >d[4*batch*hidden]"),
    "gru_step": (1, "batch hidden >a[4*batch*hidden] h[batch*hidden] >out[batch*hidden]"),
    "gru_step_backward": (1, "batch hidden pitch offset a[4*batch*hidden] h[batch*pitch] >dh[batch*hidden] "
                          ">d[4*batch*hidden]"),
    "recurrent": (1, "kind steps batch rows kept narrow wide features hidden gates used pitch keep started "
                  "lines turns apart onward order[2*steps]:i8<rows x{0,lines,features,apart,1,turns,0,onward} "
                  "w_ih[used*hidden*features] w_hh[used*hidden*hidden] "
                  "?b_ih[used*hidden] ?b_hh[used*hidden] >joined[kept*pitch] ?>a[kept*gates*hidden] "
                  "?>cells[rows*hidden] ?>squashed[kept*hidden] >out[rows*hidden] "
                  ">h[batch*hidden] ?>c[batch*hidden]"),
    "recurrent_backward": (1, "kind steps batch rows narrow hidden gates used pitch wanted turned "
                           "order[2*steps]:i8<rows ?g[rows*hidden] w_hh[used*hidden*hidden] joined[rows*pitch] "
                           "?a[rows*gates*hidden] ?cells[rows*hidden] ?squashed[rows*hidden] "
                           "?last[batch*hidden] >dh[batch*hidden] ?>dc[batch*hidden] >d[rows*gates*hidden] "
                           "?>g_ih[used*hidden*narrow] "
                           "?>g_hh[used*hidden*hidden] ?>g_bias[used*hidden]"),
    "convolve": (1, "images lines width length outputs terms rows out_width places grain x[images*lines*width] "
                 "w[outputs*terms] ?bias[outputs] plan[lines+terms+rows]:i8<length "
                 ">out[images*outputs*rows*out_width]"),
    "convolve_weights": (1, "images lines width length outputs terms rows out_width places grain pieces "
                         "x[images*lines*width] g[images*outputs*rows*out_width] plan[lines+terms+rows]:i8<length "
                         ">parts[pieces*outputs*terms]"),
    "convolve_pixels": (1024, "images lines width length outputs channels taps rows out_width places grain "
                        "x[images*lines*width] w[outputs*channels*taps] ?bias[outputs] plan[lines+taps+rows]:i8<length "
                        ">out[images*outputs*rows*out_width]"),
    "convolve_windows": (1, "images lines width length padded groups rows terms reach places size step by_row w_group "
                         "x[images*lines*width] w[reach] ?bias[groups*rows] "
                         "plan[lines+2*terms+2*places]:i8<length >out[images*groups*rows*size]"),
    "convolve_window_weights": (1, "images lines width length padded groups outputs terms places step "
                                "x[images*lines*width] g[images*groups*outputs*places] "
                                "plan[lines+terms+places]:i8<length >out[groups*outputs*terms]"),
    "convolve_squares": (1, "images channels height width outputs high wide top left by_row by_term turned "
                         "x[images*channels*height*width] w[outputs*channels*9] ?bias[outputs] "
                         ">out[images*outputs*high*wide]"),
    **{f"depthwise_{name}": (
        1, "images channels height width high wide rows columns down across top left rows_apart columns_apart "
        + arrays)
        for name, arrays in (
            ("forward", "x[images*channels*height*width] w[channels*rows*columns] ?bias[channels] "
                        ">out[images*channels*high*wide]"),
            ("input", "g[images*channels*high*wide] w[channels*rows*columns] >out[images*channels*height*width]"),
            ("weights", "x[images*channels*height*width] g[images*channels*high*wide] >out[channels*rows*columns]"))},
    "product": (1, "ta tb m n k lda ldb left packed block grain a{ta,m,k,lda} b{tb,k,n,ldb} ?bias[n] >c[m*n]"),
    "bfloat16_product": (1, "ta tb m n k left packed block grain a[m*k]:u2 b[k*n]:u2 >out[m*n]"),
    "products": (1, "ta tb m n k lda ldb outer inner a_outer a_inner b_outer b_inner grain "
                 "a{ta,m,k,lda,outer,inner,a_outer,a_inner} b{tb,k,n,ldb,outer,inner,b_outer,b_inner} "
                 ">c[outer*inner*m*n]"),
    "numpy_products": (1, "loop ta tb m n k lda ldb outer inner a_outer a_inner b_outer b_inner "
                       "a{ta,m,k,lda,outer,inner,a_outer,a_inner} b{tb,k,n,ldb,outer,inner,b_outer,b_inner} "
                       ">c[outer*inner*m*n]"),
    "factors": (1, "function count m n k rows_a rows_b rows_c size_a size_b size_c x[count*m*n] "
                ">room[m*n+size_a+size_b+size_c]:f8 >a[count*size_a] ?>b[count*size_b] ?>c[count*size_c]"),
    "qr_factors": (1, "raw reduced count m n k x[count*m*n] >room[m*n+k+m*k]:f8 >q[count*m*k] >r[count*k*n]"),
    **{name: (1, "n size na nb nc nd .p:f8 .q:f8 .r:f8 .s:f8 plan[size]:i8<any "
              + " ".join([f"?{x}[n{x}]{kind}" for x in "abcd"]) + f" >out[n]{kind}")
       for name, kind in (("walk4", ""), ("walk8", ":f8"))},
    "walk2": (1, "n size na nb nc nd .p:f8 .q:f8 .r:f8 .s:f8 plan[size]:i8<any "
              + " ".join([f"?{x}[n{x}]:u2" for x in "abcd"]) + " >out[n]:u2"),
    **dict.fromkeys(("bfloat16_to_float", "half_to_float"), (1, "n x[n]:u2 >out[n]")),
    **dict.fromkeys(("float_to_bfloat16", "float_to_half"), (1, "n x[n] >out[n]:u2")),
    "take_rows": (1024, "count width n x[count*width] index[n]:i8<count >out[n*width]"),
    "add_rows": (1, "outer count width n grain g[outer*n*width] index[n]:i8<count ?base[outer*count*width] "
                 ">out[outer*count*width]"),
    "gather": (1, "outer n m inner x[outer*n*inner] index[outer*m*inner]:i8<n >out[outer*m*inner]"),
    "add_along": (1, "outer n m inner x[outer*m*inner] index[outer*m*inner]:i8<n ?base[outer*n*inner] "
                  ">out[outer*n*inner]"),
    "set_along": (1, "outer n m inner .value index[outer*m*inner]:i8<n ?x[outer*m*inner] ?base[outer*n*inner] "
                  ">out[outer*n*inner]"),
    **{name: (1, f"rows columns n x[{read}] row[n]:i8<rows index[n]:i8<columns >out[{made}]")
       for name, read, made in (("take_pairs", "rows*columns", "n"), ("add_pairs", "n", "rows*columns"))},
    "in_range": (0, "size n index[size]:i8<n"),
    "transform": (1, "outer n inner backward .scale x[2*outer*n*inner] roots[2*n] >out[2*outer*n*inner]"),
    "transform_real": (1, "lines n bins .scale x[lines*n] roots[2*n] >out[2*lines*bins]"),
    "running": (1, "outer n inner product backward x[outer*n*inner] >out[outer*n*inner]"),
    "flip_rows": (1, "outer n inner x[outer*n*inner] >out[outer*n*inner]"),
    "beside": (1, "outer m n x[outer*m] y[outer*n] >out[outer*m+outer*n]"),
    "roll_rows": (1, "outer n shift x[outer*n] >out[outer*n]"),
    "diagonals": (1, "outer size down right x[outer*size] >out[outer*(size+down+right)*(size+down+right)]"),
    "repeat_rows": (1, "rows width times x[rows*width] >out[rows*width*times]"),
    "fill": (1, "n .value >out[n]"),
    "border": (1, "outer rows columns top bottom left right .value x[outer*rows*columns] "
               ">out[outer*(top+rows+bottom)*(left+columns+right)]"),
    "fold": (1, "images height width high wide rows columns down across top left rows_apart columns_apart "
             "x[images*rows*columns*high*wide] >out[images*height*width]"),
    "shuffle_pixels": (1, "images factor height width back x[images*factor*height*factor*width] "
                       ">out[images*factor*height*factor*width]"),
    "all_equal": (1, "n x[n] other[n]"),
    "all_within": (1, "n .low .high x[n]"),
    "selected": (1, "n count mask[n]:? x[n] >out[count]"),
    "true_places": (1, "rows columns both count mask[rows*columns]:? >out[(1+both)*count]:i8"),
    "triangle": (1, "outer rows columns diagonal upper x[outer*rows*columns] >out[outer*rows*columns]"),
    "resize": (1, "images height width high wide taps x[images*height*width] rows[taps*high]:i8<height "
               "columns[taps*wide]:i8<width ?row_weights[taps*high] ?column_weights[taps*wide] "
               ">out[images*high*wide]"),
    "resize_backward": (1, "images height width high wide taps g[images*high*wide] rows[taps*high]:i8<height "
                        "columns[taps*wide]:i8<width ?row_weights[taps*high] ?column_weights[taps*wide] "
                        ">out[images*height*width]"),
    "grid_sample": (1, "images channels height width points aligned border x[images*channels*height*width] "
                    "grid[images*points*2] >out[images*channels*points]"),
    "grid_sample_backward": (1, "images channels height width points aligned border g[images*channels*points] "
                             "grid[images*points*2] >out[images*channels*height*width]"),
    "window_sums": (1, "images high rows wide columns x[images*high*rows*wide*columns] >out[images*high*wide]"),
    "running_extremes": (1, "outer n inner smallest x[outer*n*inner] >out[outer*n*inner] "
                         ">index[outer*n*inner]:i8"),
    "row_products": (1, "rows width x[rows*width] >out[rows]"),
    "steps": (1, "n .start:f8 .step:f8 >out[n]"),
    "whole_steps": (1 << 18, "n start >out[n]:i8"),
    "spaced": (1, "n .start .last .step >out[n]"),
    "ranked": (1, "rows width k middle x[rows*width] >out[rows]:i8"),
    "sorted_places": (1, "rows width x[rows*width] >out[rows*width]:i8"),
    "searched": (1, "n m right values[n] sequence[m] >out[n]:i8"),
    "ranges": (1, "rows width x[rows*width] >low[rows] >out[rows]"),
    "complex_sizes": (1, "n x[2*n] >out[n]"),
    "float_to_double": (4096, "n x[n] >out[n]:f8"),
    "double_to_float": (4096, "n x[n]:f8 >out[n]"),
    "floor_quotients": (512, "n period x[n]:int64 y[period]:int64 >out[n]:i8"),
    "extreme_integers": (1, "rows width smallest x[rows*width]:int64 >out[rows]:i8"),
    "true_counts": (512, "rows width x[rows*width]:? >out[rows]:i8"),
    "long_to_float": (4096, "n x[n]:int64 >out[n]"),
    "float_to_long": (4096, "n x[n] >out[n]:i8"),
    "float_to_bool": (4096, "n x[n] >out[n]:?"),
    "occurrences": (4096, "n bins index[n]:i8<bins >out[bins]:i8"),
    "histogram": (1, "n bins .low .high x[n] >out[bins]"),
    "extremes": (1, "outer n inner smallest x[outer*n*inner] >out[outer*inner]"),
    "extreme_places": (8192, "outer n inner smallest x[outer*n*inner] >out[outer*inner]:i8"),
    "max_pool": (1, "images height width high wide rows columns "
                 "x[images*max(height,high*rows)*max(width,wide*columns)] >out[images*rows*columns]"),
    "sum_pool": (1, "images height width high wide rows columns flat .divisor "
                 "x[images*max(height,high*rows)*max(width,wide*columns)] >out[images*rows*columns]"),
    "max_pool_backward": (1, "images height width high wide rows columns "
                          "x[images*max(height,high*rows)*max(width,wide*columns)] largest[images*rows*columns] "
                          "g[images*rows*columns] >out[images*height*width]"),
    "mean_pool_backward": (1, "images height width high wide rows columns whole .divisor g[images*rows*columns] "
                           ">out[images*max(height,high*rows)*max(width,wide*columns)]"),
    "row_sums": (1, "rows width grain pieces x[rows*width] ?>parts[pieces]:f8 >out[rows]"),
    "sums_of_squares": (8192, "n grain pieces x[n] ?y[n] >out[pieces]:f8"),
    "column_sums": (1, "rows width grain pieces x[rows*width] >out[pieces*width]"),
    "whole_sums": (1, "rows width x[rows*width]:int64 >out[rows]:i8"),
    **{name + "_variances": (1, f"rows width grain root .freedom:f8 x[rows*width] >out[{size}]")
       for name, size in (("row", "rows"), ("column", "width"))},
    **{name: (1, f"rows width grain pieces half x[rows*width]:u2 ?>parts[pieces]:f8 >out[rows]{kind}")
       for name, kind in (("half_row_sums", ""), ("rounded_row_sums", ":u2"))},
    "power_sums": (1, "rows width power x[rows*width] >out[rows]"),
    "row_norms": (1, "rows width x[rows*width] >out[rows]"),
    "sgd": (4096, "n nesterov fresh .sign .weight_decay .rate .momentum .share >p[n] g[n] ?>buf[n]"),
    "adam": (16, "n .sign .weight_decay .weight .beta2 .share .root .eps .rate .shrink >p[n] g[n] >m[n] >v[n] "
             "?>largest[n]"),
    "nadam": (16, "n .sign .weight_decay .weight .beta2 .share .correction .eps .of_gradient .of_mean .shrink >p[n] "
              "g[n] >m[n] >v[n]"),
    "radam": (16, "n .sign .weight_decay .weight .beta2 .share .correction .lr .eps .root .rectify .shrink >p[n] g[n] "
              ">m[n] >v[n]"),
    "factored": (16, "outer n m .floor g[outer*n*m] row[outer*n] col[outer*m] least[outer] >out[outer*n*m]"),
    "adamax": (16, "n .sign .weight_decay .weight .beta2 .eps .rate >p[n] g[n] >m[n] >largest[n]"),
    "rmsprop": (16, "n .sign .weight_decay .alpha .share .eps .momentum .rate >p[n] g[n] >square[n] ?>mean[n] "
                "?>buf[n]"),
    "adagrad": (16, "n .sign .weight_decay .rate .eps >p[n] g[n] >total[n]"),
    "adadelta": (16, "n .sign .weight_decay .rho .share .eps .rate >p[n] g[n] >square[n] >squared_moves[n]"),
}
_TYPES = {"": "float", "f8": "double", "u2": "uint16_t", "i8": "int64_t", "int64": "int64_t",
    "u8": "uint64_t", "?": "uint8_t", "twister": "twister"}


#: The steps of programs that are not kernels (replay.c, walk.h), and their numbers of words; -k stands for k or more.
STEPS = {"zero": 3, "run": 4, "move": -11, "small": 13, "row": 9, "number": 3, "no_nan": 3, "count": 5, "fused4": -9,
         "fused8": -9}


def parsed(declared):
    """Yields for each argument (marks, name, kind, size or shape, type, bound). `kind` is "" for a number, "[" for an
    array, "{" for a matrix; `bound` is the number below which the places in an array must be, or ""."""
    for token in declared.split():
        yield re.fullmatch(r"([.?>]*)(\w+)(?:([\[{])(.*)[\]}])?:?([\w?]*)<?(\w*)", token).groups("")


#: Kernels that can fail though they have no array of places: the name of the array that can be wrong, or "" if only
#: memory can be missing.
_FAILING = {**dict.fromkeys(("attend", "attend_backward", "batch_norm_by", "convolve_squares", "depthwise_forward",
                             "depthwise_input", "depthwise_weights", "top", "ranked", "sorted_places", "histogram",
                             "transform", "transform_real", "half_softmax", "bfloat16_product", "factors"), ""),
            "categories": "weights", "race": "weights", "all_equal": "other", "all_within": "x", "floor_quotients": "y"}


def failing(name):
    """For a kernel that returns whether it failed, the name of the array that can be wrong, or "". It returns 1 if
    memory is missing, 2 for a place out of range or for numbers that are no weights. None for all other kernels."""
    places = [argument for _, argument, _, _, _, below in parsed(KERNELS[name][1]) if below]
    return places[-1] if places else _FAILING.get(name)


def by_element(name):
    """The number of input arrays of an elementwise kernel, which has arrays of n floats alone; 0 for any other
    kernel."""
    arrays = KERNELS[name][1].split()
    if arrays[0] != "n" or not all([re.fullmatch(r"\w+\[n\]", x) for x in arrays[1:-1]]) or arrays[-1] != ">out[n]":
        return 0
    return len(arrays) - 2


def drawn(name):
    """For a kernel that draws a number for each of n elements, (type, whether it is written) of each array of n
    elements, inputs first. None for any other kernel."""
    if not any([dtype == "twister" for *_, dtype, _ in parsed(KERNELS[name][1])]):
        return None
    arrays = [(dtype, ">" in marks, size) for marks, x, kind, size, dtype, _ in parsed(KERNELS[name][1])
              if kind and x not in ("key", "source")]
    return [array[:2] for array in arrays] if all([size == "n" for *_, size in arrays]) else None


def fingerprint():
    """A checksum of the table and of the conventions of `entries`. A library contains that of its build."""
    declarations = [(name, declared) for name, (_, declared) in KERNELS.items()]
    conventions = "addresses", "objects", "checks", "loops of draws", "replayed"
    return zlib.crc32(repr((*conventions, STEPS, declarations)).encode())


#: NumPy checks the floating-point flags after a loop, and would warn or raise for those that C has set.
_FORGET = """static void forget_errors(void)
{
    if (fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW))
        feclearexcept(FE_ALL_EXCEPT);
}"""


def entries():
    """The C source of the functions that Python calls, one for each kernel. It takes all arguments in one piece of
    memory, because ctypes takes long to convert each argument."""
    lines = ['#include <fenv.h>', '#include "common.h"', "", _FORGET, "",
             "union argument { int64_t whole; double real; void *place; };", "",
             "KERNEL int64_t fingerprint(void)", "{", f"    return {fingerprint()}LL;", "}"]
    counts = []
    for name, (_, declared) in KERNELS.items():
        types, given = ["int64_t"], ["a[0].whole"]
        for marks, _, kind, _, dtype, below in parsed(declared):
            at = f"a[{len(types)}]"
            if kind:
                const = "" if ">" in marks else "const "
                types.append(const + ("place" if below else _TYPES[dtype]) + " *")
                given.append(f"(void *)(intptr_t){at}.whole")    # of 8 bytes, however few an address has
            else:
                types.append(_TYPES[dtype] if marks else "int64_t")
                given.append(f"({_TYPES[dtype]}){at}.real" if marks else at + ".whole")
        fails = failing(name) is not None
        call = f"return {name}({', '.join(given)});" if fails else f"{name}({', '.join(given)});\n    return 0;"
        lines += ["", f"{'int64_t' if fails else 'void'} {name}({', '.join(types)});",
                  f"KERNEL int64_t enter_{name}(const union argument *a)", "{", f"    {call}", "}"]
        counts.append((f"enter_{name}", len(types)))
        if by_element(name):                   # for NumPy: see `_ufunc` in __init__.py
            count = by_element(name)
            even = " && ".join([f"steps[{k}] == 4" for k in range(count + 1)])
            given = ", ".join([f"(const float *)(a[{k}] + i * steps[{k}])" for k in range(count)])
            lines += ["", f"KERNEL void loop_{name}(char **a, const intptr_t *sizes, const intptr_t *steps, void *d)",
                      "{", "    (void)d;", f"    const intptr_t n = *sizes, run = {even} ? n : 1;",
                      "    for (intptr_t i = 0; i < n; i += run)",
                      f"        {name}(1, run, {given}, (float *)(a[{count}] + i * steps[{count}]));", "}"]
        if drawn(name):                        # for NumPy: see `Draws` in __init__.py
            lines += ["", f"KERNEL void loop_{name}(char **a, const intptr_t *sizes, const intptr_t *steps, void *d)",
                      "{", "    (void)steps;", "    const union argument *given = d;",
                      f"    {name}({', '.join(_of_draws(declared))});", "    forget_errors();", "}"]
    for name, count in STEPS.items():
        lines.append(f"int64_t step_{name}(const union argument *a);")
        counts.append((f"step_{name}", count))
    lines += ["", "typedef int64_t (*entry)(const union argument *);",
              "const struct replayed { entry run; int64_t count; } replayed[] = {",
              *[f"    {{{name}, {count}}}," for name, count in counts], "};",
              f"const int64_t replayed_count = {len(counts)};"]
    return "\n".join(lines) + "\n"


def _of_draws(declared):
    """The arguments with which an inner loop for NumPy calls a kernel that draws: the arrays come from NumPy, all
    others from the memory of `Draws`, which holds addresses and numbers."""
    given, numbers, arrays = ["1", "*sizes"], 2, 0
    for marks, x, kind, _, dtype, _ in list(parsed(declared))[1:]:
        if x in ("key", "source"):
            given.append(f"(void *)(intptr_t)given[{int(x == 'source')}].whole")
        elif kind:
            given.append(f"({'' if '>' in marks else 'const '}{_TYPES[dtype]} *)a[{arrays}]")
            arrays += 1
        else:
            given.append(f"({_TYPES[dtype]})given[{numbers}].real" if marks else f"given[{numbers}].whole")
            numbers += 1
    return given


def numbered():
    """Name -> the number by which a program calls a kernel or a step."""
    return {name: number for number, name in enumerate([*KERNELS, *STEPS])}
