package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;

/** Forgets what an attempt that will never be committed wrote for any shard of the blob. */
public record Drop(BlobId blob, AttemptId attempt) {}
