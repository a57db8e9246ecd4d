/** Targets of events: webhooks, Kafka, NATS and AMQP, as the file of the operator names them. */
@NullMarked
package dev.ashlar.server.event;

import org.jspecify.annotations.NullMarked;
