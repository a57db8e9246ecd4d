package dev.ashlar.transport.frame;

import dev.ashlar.protocol.memory.Slab;

/**
 * The memory that receives the data of a frame.
 *
 * @param slab retained by the reader until the frame is complete or the connection ends
 */
public record ReceiveTarget(Slab slab, int offset) {}
