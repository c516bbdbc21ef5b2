"""Celery's configuration: data only. What depends on the deployment is added by mangen.app."""

from kombu import Queue

# Declared and consumed in this order: with the priority strategy Redis drains the first first.
task_queues = [Queue(name, routing_key=name) for name in ("gpu.high", "cpu", "gpu.mid", "gpu.low")]
task_default_queue = "cpu"
task_create_missing_queues = False
broker_transport_options = {"queue_order_strategy": "priority", "unacked_restore_throttle": 1}
broker_connection_retry_on_startup = True
broker_connection_max_retries = None

# Nothing from outside is unpickled.
task_serializer = result_serializer = event_serializer = "json"
accept_content = result_accept_content = ["json"]

# The ledger owns retries and leases: the message is acknowledged when the batch starts.
task_acks_late = False
task_reject_on_worker_lost = False
worker_cancel_long_running_tasks_on_connection_loss = False
worker_disable_rate_limits = True
result_expires = 3600
result_extended = True
task_track_started = True

# Flower watches by events.
worker_send_task_events = True
task_send_sent_event = True

imports = ("mangen.worker",)
worker_pool = "mangen.pooling.celery_pool:ResidentPool"
worker_hijack_root_logger = False
worker_redirect_stdouts = False
