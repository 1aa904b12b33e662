// Where in the IR the places of a plan are.
#ifndef BBPROF_PLACES_H
#define BBPROF_PLACES_H

#include "flatten.h"

namespace bbprof {

// The terminator of a block of the view: the block itself may have been cut since, its terminator moved along.
llvm::Instruction *terminator(FlatFunction &Flat, uint32_t Block);

// Where the successor slot of a place leads.
llvm::BasicBlock *target(FlatFunction &Flat, const BbprofPlace &Place);

// Gives the plan's unwind edges landing pads of their own; at once, as there may be thousands to one pad. In front of whatever
// keeps blocks of the view: the pad's code stays in its block.
void splitUnwindEdges(FlatFunction &Flat, const BbprofFunctionPlan &Function);

// Gives an edge a block of its own, which unwind edges have. The slots of the terminator that share the target are one edge.
llvm::BasicBlock *splitEdge(FlatFunction &Flat, const BbprofPlace &Place);

// Parts the targets of edges that cannot be split, where the plan has code for them, from what they
// alone reach. In front of whatever keeps blocks of the view.
void makeLandings(FlatFunction &Flat, const BbprofFunctionPlan &Function);

// phi [1 from the edge's source, 0 from all others], where the landing has others. Null: whoever comes there comes by this edge.
llvm::PHINode *came(FlatFunction &Flat, const BbprofPlace &Place, llvm::IntegerType *Word);

} // namespace bbprof

#endif
