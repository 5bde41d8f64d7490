// Everything a generator file needs.
#pragma once

#include "fldsl/kernel.h"
#include "fldsl/math.h"
#include "fldsl/softmax.h"
