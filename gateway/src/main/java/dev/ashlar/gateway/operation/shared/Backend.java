package dev.ashlar.gateway.operation.shared;

import dev.ashlar.blob.ObjectStore;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.protocol.client.MetadataClient;
import java.time.Clock;
import java.util.Random;

/** What operations work on. */
public record Backend(
    MetadataClient metadata, ObjectStore store, S3Config config, Clock clock, Random random) {}
