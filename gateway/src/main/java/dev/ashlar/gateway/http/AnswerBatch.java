package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A part of an answer that is sent with one flush.
 *
 * @param answer whose head is sent first; null after the first batch
 * @param pieces of a streamed body; owned by the batch
 * @param windowBytes bytes that the pieces occupy in the answer window
 * @param last whether the answer ends here
 */
record AnswerBatch(
    Exchange exchange,
    @Nullable HttpAnswer answer,
    List<ByteBuf> pieces,
    long windowBytes,
    boolean last) {}
