package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.EventRow;
import dev.ashlar.protocol.message.OutboxRow;
import java.util.List;

/**
 * Events that have not been sent yet.
 *
 * @param events the oldest first
 * @param outbox how many there are in all, and how many were lost
 */
public record EventsPage(List<EventRow> events, OutboxRow outbox) {}
