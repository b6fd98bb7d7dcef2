// The pages, as the menu has them.

import { page as overview } from "./pages/overview.js";
import { page as keys } from "./pages/keys.js";
import { page as queues } from "./pages/queues.js";
import { page as live } from "./pages/live.js";
import { page as clients } from "./pages/clients.js";
import { page as slowlog } from "./pages/slowlog.js";
import { page as storage } from "./pages/storage.js";
import { page as configuration } from "./pages/configuration.js";
import { page as terminal } from "./pages/terminal.js";

export const pages = [overview, keys, queues, live, clients, slowlog, storage, configuration, terminal];
