package dev.ashlar.gateway.http;

import dev.ashlar.gateway.exchange.HttpAnswer;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of an answer that is sent with one flush.
 *
 * @param answer in the first batch of an answer, to make its head of
 * @param pieces of a streamed body; owned by the batch
 * @param windowBytes what the pieces took from the answer window
 * @param last nothing follows
 */
record AnswerBatch(
    Exchange exchange,
    @Nullable HttpAnswer answer,
    List<ByteBuf> pieces,
    long windowBytes,
    boolean last) {}
